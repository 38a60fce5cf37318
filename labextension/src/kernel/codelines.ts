/** Lines of code in a notebook's cells, found for a record. */

import type { Cell, ICodeCellModel } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';

import type { ISampledLine } from '../record/openreceipt';
import type { IRecord } from '../record/record';

/** Return the cell that holds a line; null if there is none, or if several match. */
export function cellOf(notebook: NotebookPanel, record: IRecord, line: ISampledLine): Cell | null {
  const { widgets } = notebook.content;
  const found = widgets.filter(({ model }) =>
    line.cell === null ? model.id === record.cell.id : countOf(model) === line.cell
  );
  return found.length === 1 ? (found[0] ?? null) : null;
}

/** Return a line's code; null if its cell has run again or was changed since. */
export function codeOf({ model }: Cell, record: IRecord, line: ISampledLine): string | null {
  const ran = countOf(model) === (line.cell ?? record.cell.executionCount);
  return ran && !(model as ICodeCellModel).isDirty
    ? (model.sharedModel.getSource().split('\n')[line.line - 1] ?? null)
    : null;
}

/** Return true if a cell's last run is this record and its code has not changed since. */
export function isUnchanged({ model }: Cell, { cell }: IRecord): boolean {
  const count = countOf(model);
  return count !== null && count === cell.executionCount && !(model as ICodeCellModel).isDirty;
}

/** Put the cursor of a visible cell on one of its lines, at the first character of the code. */
export async function putCursor(notebook: NotebookPanel, cell: Cell, line: number): Promise<void> {
  const { content } = notebook;
  cell.inputHidden = false;
  await cell.ready;
  content.mode = 'edit';
  const { editor } = cell;
  if (editor !== null) {
    const index = Math.min(line, editor.lineCount) - 1;
    const column = editor.getLine(index)?.search(/\S|$/) ?? 0;
    editor.setCursorPosition({ line: index, column });
    editor.focus();
  }
}

function countOf(model: Cell['model']): number | null {
  return model.type === 'code' ? (model as ICodeCellModel).executionCount : null;
}
