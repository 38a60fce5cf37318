/**
 * How far a lesson is, as its notebook itself has it: which exercises its code checks and what came of them, and
 * which predictions stand in it. The Python side is jupyter_mlgpu/teach/lessons/counting.py.
 */

import type { ICodeCellModel } from '@jupyterlab/cells';
import type { INotebookModel } from '@jupyterlab/notebook';

import { dataOf } from './outputs';

export interface IProgress {
  /** Exercises, and those that were right in any cell. */
  checks: number;
  passed: number;
  /** Predictions that are asked for, and those that were written down. */
  predictions: number;
  predicted: number;
}

/** A code cell, and the texts of its results. */
export interface ICellText {
  code: string;
  shown: readonly string[];
}

/** Lines that are no comment. A method of that name is another thing. */
const CHECK = /^(?![ \t]*#).*?(?<![\w.])check\([ \t]*["'](\w+)["']/gm;
const PREDICT =
  /^(?![ \t]*#).*?(?<![\w.])predict\([ \t]*(?:"[^"\n]*"|'[^'\n]*')[ \t]*,[ \t]*(\.\.\.|None\b)?/gm;
/** With which the answer of `check` begins where it is right, in every language. */
const RIGHT = '✓';

/** The progress in a notebook's cells; null: it is no lesson. */
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

/** The same of a notebook that is open. */
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
