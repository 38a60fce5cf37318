/**
 * A notebook's wish to be traced whenever it has a kernel, which stands in its metadata as
 * `"jupyter_mlgpu": {"trace": true}`, and whether its user vouches for it.
 */

import type { INotebookModel } from '@jupyterlab/notebook';

import { object } from '../language/untrusted';

const KEY = 'jupyter_mlgpu';

/** Whether the notebook asks to be traced. */
export function isMarked(notebook: INotebookModel): boolean {
  return object(notebook.getMetadata(KEY))?.trace === true;
}

/** Write the wish into the notebook, or take it back; what else stands there stays. */
export function mark(notebook: INotebookModel, on: boolean): void {
  const others = Object.fromEntries(
    Object.entries(object(notebook.getMetadata(KEY)) ?? {}).filter(([name]) => name !== 'trace')
  );
  if (on) {
    notebook.setMetadata(KEY, { ...others, trace: true });
  } else if (Object.keys(others).length > 0) {
    notebook.setMetadata(KEY, others);
  } else {
    notebook.deleteMetadata(KEY);
  }
}

/**
 * `trusted`: each of its code cells was run or vouched for by this user, and none was changed by others
 * since. `empty`: there is no code in it. JupyterLab trusts the empty cell that it puts into a notebook
 * without cells, which says nothing of the notebook.
 */
export function trustOf(notebook: INotebookModel): 'trusted' | 'empty' | 'untrusted' {
  const code = [...notebook.cells].filter(({ type }) => type === 'code');
  if (!code.some(({ sharedModel }) => sharedModel.getSource().trim() !== '')) {
    return 'empty';
  }
  return code.every(({ trusted }) => trusted) ? 'trusted' : 'untrusted';
}
