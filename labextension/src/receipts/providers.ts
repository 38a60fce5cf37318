/**
 * Connections from the outputs of cells to their notebook. MIME renderers know nothing of notebooks. The
 * plug-in does and fills these in; it may start later or not at all. One of each exists per page, because the
 * plug-in and the renderers share a bundle.
 */

import { Signal } from '@lumino/signaling';

import type { Message } from '../language/i18n';
import type { NativeLines } from '../record/folding';
import type { ISampledLine } from '../record/openreceipt';
import type { IRecord } from '../record/record';

/** A line of code in a notebook. */
export interface ICodeLine {
  /** The line; null if it may have changed, because its cell was edited or has run again. */
  code: string | null;
  /** Show its cell, and put the cursor on the line. */
  open: () => void;
}

/** Finds lines of code in one notebook; returns null if their cell is gone. */
export interface ILineFinder {
  findLine: (record: IRecord, line: ISampledLine) => ICodeLine | null;
}

class LineProvider {
  /** Return the notebook that contains a DOM node. */
  at: (node: Node) => ILineFinder | null = () => null;

  /**
   * Return the function that opens the page of the record whose receipt has this node; null if there is none.
   */
  page: (node: Node, record: IRecord) => (() => void) | null = () => null;

  /** Emitted when lines may be found elsewhere from now on. */
  readonly changed = new Signal<this, void>(this);
}

export const lineProvider = new LineProvider();

/** The rendered outputs of one cell. */
export interface ICellOutputs {
  /**
   * Render them without the folded lines, until the returned function is called. `onFold` gets the folded
   * lines, now and each time that the outputs change.
   */
  fold: (
    record: IRecord,
    wanted: NativeLines,
    onFold: (messages: readonly string[]) => void
  ) => () => void;
}

class OutputsProvider {
  /** Return the outputs of the cell that contains a DOM node; the same object for the same cell. */
  at: (node: Node) => ICellOutputs | null = () => null;

  /** Emitted when `at` has been set. */
  readonly changed = new Signal<this, void>(this);
}

export const outputsProvider = new OutputsProvider();

/** An error as a message and the value for its `{why}`. */
export interface IFailure {
  message: Message;
  why: string;
}

/** Restarts the kernel of the notebook that contains a DOM node, and runs its cells again. */
export interface IRestarter {
  /** Return why it cannot be done; null if it can. `elsewhere`: the node is in no notebook's cell. */
  obstacle(node: Node): Message | 'elsewhere' | null;

  /**
   * Ask the user and restart; calls `begin` after a yes. Resolves with what kept it from running cells; null
   * if it ran them or the user said no. From then on JupyterLab shows what runs, and has removed the outputs
   * of these cells.
   */
  restart(node: Node, verbose: string | null, begin: () => void): Promise<IFailure | null>;
}

class RestarterProvider {
  /** null while the plug-in has not started. */
  restarter: IRestarter | null = null;

  /** Emitted when the restarter is set, or its obstacle may have changed. */
  readonly changed = new Signal<this, void>(this);
}

export const restarterProvider = new RestarterProvider();
