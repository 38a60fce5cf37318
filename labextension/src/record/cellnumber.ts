/** What people call a cell: by the number that the notebook writes before it. */

import type { ICell } from './record';

/** `[10]`, `[10.2]` for a run of a cell that repeats, `#12` by its own number where there is no count. */
export function cellNumber({ sequence, executionCount, turn }: ICell): string {
  if (executionCount === null) {
    return `#${sequence}`;
  }
  return turn === null ? `[${executionCount}]` : `[${executionCount}.${turn}]`;
}
