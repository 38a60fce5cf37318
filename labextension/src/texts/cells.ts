/** Texts for the list of records, in both languages. */

export const english = {
  cells: 'Cells'
};

export const chinese: Record<keyof typeof english, string> = {
  cells: '单元格'
};
