/** What may limit a cell, in words. Made by scripts/schemas.py of explain/limits/words.py. */

export const KINDS = {
  compiling: 'compiling',
  waiting: 'waiting',
  python: 'Python',
  input: 'preparing input',
  transfer: 'copying',
  launch: 'launching',
  compute: 'peak compute',
  bandwidth: 'memory traffic',
  device: 'computing',
  native: 'native code',
  memory: 'memory shortage',
  contention: 'other programs',
  unknown: 'not known'
} as const;

/** Instead of compiling, of a cell that mostly imported modules. */
export const IMPORTING = 'importing';
