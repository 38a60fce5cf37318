/**
 * The door from a receipt to the other outputs of its cell: what draws outputs knows nothing of notebooks, and the
 * plug-in, which does, may come later or not at all.
 */

import { Signal } from '@lumino/signaling';

import type { NativeLines } from '../record/folding';
import type { IRecord } from '../record/record';

/** The outputs of one cell, as they are drawn. */
export interface ICellOutputs {
  /**
   * Draw them without the lines that fold, until `end` is called; `tell` hears which those are, now and each time
   * that the outputs change.
   */
  fold: (
    record: IRecord,
    wanted: NativeLines,
    tell: (messages: readonly string[]) => void
  ) => () => void;
}

class OutputsProvider {
  /** The outputs of the cell in which a node of the page stands; the same object for the same cell. */
  at: (node: Node) => ICellOutputs | null = () => null;

  /** There is another way to find them now. */
  readonly changed = new Signal<this, void>(this);
}

/** One a page: both halves are bundled together, and a module is loaded once. */
export const outputsProvider = new OutputsProvider();
