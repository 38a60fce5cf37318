/** Code of ours that a kernel runs outside the notebook: no cell, no output, no history. */

import type { ISessionContext } from '@jupyterlab/apputils';

/** Run it after the cells that wait; answers what went wrong, null where nothing did. */
export async function runSilently(
  sessionContext: ISessionContext,
  code: string
): Promise<string | null> {
  const execution = sessionContext.session?.kernel?.requestExecute({
    code,
    silent: true,
    stop_on_error: false,
    store_history: false
  });
  try {
    const content = (await execution?.done)?.content;
    if (content?.status === 'error') {
      return `${content.ename}: ${content.evalue}`;
    }
    const done = content === undefined || content.status === 'ok';
    return done ? null : 'A cell before it failed, and the kernel dropped what waited.';
  } catch (error) {
    return String(error);
  }
}
