/** Texts for the page of one record, in both languages. */

export const english = {
  backToCells: 'Back to the cells'
};

export const chinese: Record<keyof typeof english, string> = {
  backToCells: '返回单元格列表'
};
