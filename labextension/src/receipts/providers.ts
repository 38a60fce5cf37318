/**
 * Connections from the outputs of cells to the notebook that holds them. What draws outputs knows nothing of notebooks.
 * The plug-in does, and sets these; it may come later or not at all. One of each exists per page: the plug-in and the
 * outputs are bundled together, and a module is loaded once.
 */

import { Signal } from '@lumino/signaling';

import type { Message } from '../language/i18n';
import type { NativeLines } from '../record/folding';
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

export const lineProvider = new LineProvider();

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

export const outputsProvider = new OutputsProvider();

/** What went wrong, in a message with what fills it. */
export interface IFailure {
  message: Message;
  why: string;
}

/** Restarts the kernel of the notebook in whose cell a node of the page stands, and runs cells again. */
export interface IRestarter {
  /** What is in the way: a sentence; null: nothing. `elsewhere`: the node is in no notebook's cell. */
  obstacle(node: Node): Message | 'elsewhere' | null;

  /**
   * Ask the user, and do it; calls `begin` after a yes. Answers what kept it from running cells, null also
   * after a no. From then on JupyterLab shows what runs, and has taken away the outputs of these cells.
   */
  restart(node: Node, verbose: string | null, begin: () => void): Promise<IFailure | null>;
}

class RestarterProvider {
  /** null where the plug-in is not there (yet). */
  restarter: IRestarter | null = null;

  /** The restarter has come, or what is in its way may have changed. */
  readonly changed = new Signal<this, void>(this);
}

export const restarterProvider = new RestarterProvider();
