/**
 * Progress of a lesson, from its notebook: the exercises that its code checks and their results, and its
 * predictions. The Python side is jupyter_mlgpu/teach/lessons/counting.py.
 */

import type { ICodeCellModel } from '@jupyterlab/cells';
import type { INotebookModel } from '@jupyterlab/notebook';

import { dataOf } from './outputs';

export interface IProgress {
  /** Number of exercises, and of those that were right in any cell. */
  checks: number;
  passed: number;
  /** Number of predictions asked for, and of those written down. */
  predictions: number;
  predicted: number;
}

/** The code of a cell and the texts of its results. */
export interface ICellText {
  code: string;
  shown: readonly string[];
}

/** Calls in lines that are no comment; methods of the same name do not count. */
const CHECK = /^(?![ \t]*#).*?(?<![\w.])check\([ \t]*["'](\w+)["']/gm;
const PREDICT =
  /^(?![ \t]*#).*?(?<![\w.])predict\([ \t]*(?:"[^"\n]*"|'[^'\n]*')[ \t]*,[ \t]*(\.\.\.|None\b)?/gm;
/** First character of the output of `check` for a right answer, in every language. */
const RIGHT = '✓';

/** Return the progress in a notebook's cells; null if it is no lesson. */
export function progressIn(cells: Iterable<ICellText>): IProgress | null {
  const right = new Map<string, boolean>();
  let [predictions, predicted] = [0, 0];
  for (const { code, shown } of cells) {
    for (const [, name = ''] of code.matchAll(CHECK)) {
      right.set(name, right.get(name) === true || shown.some(text => text.startsWith(RIGHT)));
    }
    for (const [, dots] of code.matchAll(PREDICT)) {
      predictions += 1;
      predicted += dots === undefined ? 1 : 0;
    }
  }
  const passed = [...right.values()].filter(Boolean).length;
  return right.size + predictions > 0
    ? { checks: right.size, passed, predictions, predicted }
    : null;
}

/** Return the progress in an open notebook; null if it is no lesson. */
export function progressOf(notebook: INotebookModel): IProgress | null {
  return progressIn(codeCells(notebook));
}

function* codeCells(notebook: INotebookModel): Generator<ICellText> {
  for (const cell of notebook.cells) {
    const code = cell.type === 'code' ? cell.sharedModel.getSource() : '';
    if (/\b(check|predict)\(/.test(code)) {
      yield { code, shown: resultsOf(cell as ICodeCellModel) };
    }
  }
}

function resultsOf({ outputs }: ICodeCellModel): string[] {
  return Array.from({ length: outputs.length }, (_, index) => {
    const text = dataOf(outputs.get(index))?.['text/plain'];
    return typeof text === 'string' ? text : '';
  });
}
