/** Texts for the controls in other notebooks, in both languages. */

export const english = {
  notHeardYet:
    'Asked the kernel for {device}. If a cell is running, this happens when it has ended.',
  widgetEnded:
    'The extension was unloaded, so nothing new is shown here. Run %load_ext jupyter_mlgpu in a cell, then the cell that made this once more.',
  receipts: 'Receipts',
  newestRecords: 'the newest {count}'
};

export const chinese: Record<keyof typeof english, string> = {
  notHeardYet: '已向内核请求 {device}。如有单元格正在运行，将在其结束后生效。',
  widgetEnded:
    '扩展已卸载，因此这里不再显示新内容。请在单元格中运行 %load_ext jupyter_mlgpu，然后重新运行创建此控件的单元格。',
  receipts: '回执',
  newestRecords: '最新 {count} 条'
};
