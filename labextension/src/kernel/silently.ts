/** Runs code in a kernel without a cell, an output or an entry in the history. */

import type { ISessionContext } from '@jupyterlab/apputils';

/** An error: the name of Python's exception, empty if there was none, and the whole message. */
export interface IProblem {
  error: string;
  why: string;
}

/** Run code after the cells in the queue; resolves with the error, null if there was none. */
export async function runSilently(
  sessionContext: ISessionContext,
  code: string
): Promise<IProblem | null> {
  const execution = sessionContext.session?.kernel?.requestExecute({
    code,
    silent: true,
    stop_on_error: false,
    store_history: false
  });
  try {
    const content = (await execution?.done)?.content;
    if (content?.status === 'error') {
      return { error: content.ename, why: `${content.ename}: ${content.evalue}` };
    }
    const done = content === undefined || content.status === 'ok';
    const dropped = 'A cell before it failed, and the kernel dropped what waited.';
    return done ? null : { error: '', why: dropped };
  } catch (error) {
    return { error: '', why: String(error) };
  }
}
