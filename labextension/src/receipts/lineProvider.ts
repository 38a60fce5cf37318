/**
 * The door from a receipt to the code of its cell, and to the cell's page in the sidebar: what draws outputs knows nothing of notebooks, and the plug-in,
 * which does, may come later or not at all.
 */

import { Signal } from '@lumino/signaling';

import type { ISampledLine } from '../record/openreceipt';
import type { IRecord } from '../record/record';

/** A line of code in a notebook. */
export interface ICodeLine {
  /** The line; null: it may be another one by now, for its cell was run again or changed. */
  code: string | null;
  /** Show its cell, and put the cursor there. */
  open: () => void;
}

/** Finds lines of code in one notebook; null: their cell is not there. */
export interface ILineFinder {
  findLine: (record: IRecord, line: ISampledLine) => ICodeLine | null;
}

class LineProvider {
  /** The notebook in whose cell a node of the page stands. */
  at: (node: Node) => ILineFinder | null = () => null;

  /** What opens the page of the record whose receipt has this node; null: nothing does. */
  page: (node: Node, record: IRecord) => (() => void) | null = () => null;

  /** There is another way to find them now, or another notebook. */
  readonly changed = new Signal<this, void>(this);
}

/** One a page: both halves are bundled together, and a module is loaded once. */
export const lineProvider = new LineProvider();
