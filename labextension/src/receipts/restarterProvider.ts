/**
 * The door between the two halves of this package: what draws outputs knows nothing of notebooks, and the
 * plug-in, which does, may come later or not at all.
 */

import { Signal } from '@lumino/signaling';

import type { Message } from '../language/i18n';

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

/** One a page: both halves are bundled together, and a module is loaded once. */
export const restarterProvider = new RestarterProvider();
