/** Texts for what the kernel does now, in both languages. */

export const english = {
  now: 'Now'
};

export const chinese: Record<keyof typeof english, string> = {
  now: '当前'
};
