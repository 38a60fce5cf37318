/**
 * A notebook's wish to be traced whenever it has a kernel, which stands in its metadata as
 * `"jupyter_mlgpu": {"trace": true}`, and whether its user vouches for it.
 */

import type { INotebookModel, NotebookPanel } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';

import { object } from '../language/untrusted';

const KEY = 'jupyter_mlgpu';

/** The language that a notebook asks its kernel to speak, `"jupyter_mlgpu": {"language": "zh"}`. */
export function notebookLanguage({ model }: NotebookPanel): unknown {
  return object(model?.getMetadata(KEY))?.language;
}

/** The wish of one notebook. */
export class TraceMark {
  constructor(private readonly notebook: NotebookPanel) {
    notebook.context.ready.then(
      () => {
        notebook.context.model.metadataChanged.connect(() => this.changed.emit());
        this.changed.emit();
      },
      () => undefined
    );
  }

  /** It may be there now, or gone. */
  readonly changed = new Signal<this, void>(this);

  get isSet(): boolean {
    const { model } = this.notebook;
    return model !== null && object(model.getMetadata(KEY))?.trace === true;
  }

  /** It is this user who has written it, since the page was loaded. */
  get isSetHere(): boolean {
    return this.setHere && this.isSet;
  }

  /** Write it into the notebook, or take it back; what else stands there stays. */
  set(on: boolean): void {
    const { model } = this.notebook;
    if (model === null) {
      return;
    }
    this.setHere = on;
    const others = Object.fromEntries(
      Object.entries(object(model.getMetadata(KEY)) ?? {}).filter(([name]) => name !== 'trace')
    );
    if (on) {
      model.setMetadata(KEY, { ...others, trace: true });
    } else if (Object.keys(others).length > 0) {
      model.setMetadata(KEY, others);
    } else {
      model.deleteMetadata(KEY);
    }
  }

  private setHere = false;
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
