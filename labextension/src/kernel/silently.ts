/** Code of ours that a kernel runs outside the notebook: no cell, no output, no history. */

import type { ISessionContext } from '@jupyterlab/apputils';

/** What went wrong: the name of Python's error, empty where it was none, and the whole of it in words. */
export interface IProblem {
  error: string;
  why: string;
}

/** Run it after the cells that wait; answers what went wrong, null where nothing did. */
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
