/** Runs cells again under the conditions of their records. */

import type { Cell } from '@jupyterlab/cells';
import { NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';

import { cellOf } from '../record/cellrows';
import type { IRecord } from '../record/record';
import { isUnchanged } from './codelines';
import type { IEntry } from './state';

/**
 * Return the cells of records, each once. Null if one is gone or would run differently: its code was changed,
 * or its last run had other code, another device, or the profiler on.
 */
export function cellsToRun(
  notebook: NotebookPanel,
  records: readonly IRecord[],
  entries: readonly IEntry[]
): Cell[] | null {
  const found = new Set<Cell>();
  for (const record of records) {
    const { id } = record.cell;
    const last = entries.findLast(one => one.record.cell.id === id)?.record;
    const cell = notebook.content.widgets.find(({ model }) => model.id === id);
    if (
      cell === undefined ||
      last?.mode !== 'light' ||
      cellOf(last) !== cellOf(record) ||
      !isUnchanged(cell, last)
    ) {
      return null;
    }
    found.add(cell);
  }
  return [...found];
}

/** Run cells several times in turn, as the notebook does; resolves with true if all runs succeeded. */
export async function runInTurn(
  { content, sessionContext }: NotebookPanel,
  cells: readonly Cell[],
  times: number,
  begins: (run: number) => void
): Promise<boolean> {
  for (let run = 0; run < times * cells.length; run++) {
    const cell = cells[run % cells.length];
    begins(run + 1);
    if (
      cell === undefined ||
      cell.isDisposed ||
      !(await NotebookActions.runCells(content, [cell], sessionContext))
    ) {
      return false;
    }
  }
  return true;
}
