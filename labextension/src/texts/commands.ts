/** Texts for commands and settings, in both languages. */

export const english = {
  open: 'Show Hardware Receipts'
};

export const chinese: Record<keyof typeof english, string> = {
  open: '显示硬件回执'
};
