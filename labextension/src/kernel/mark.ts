/**
 * The notebook metadata `"jupyter_mlgpu": {"trace": true}`, which ask for tracing with every kernel, and the
 * trust that loading code needs.
 */

import type { INotebookModel, NotebookPanel } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';

import { object } from '../language/untrusted';

const KEY = 'jupyter_mlgpu';

/** Return the language in a notebook's metadata, `"jupyter_mlgpu": {"language": "zh"}`. */
export function notebookLanguage({ model }: NotebookPanel): unknown {
  return object(model?.getMetadata(KEY))?.language;
}

/** The tracing mark in the metadata of one notebook. */
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

  /** Emitted when the metadata change. */
  readonly changed = new Signal<this, void>(this);

  get isSet(): boolean {
    const { model } = this.notebook;
    return model !== null && object(model.getMetadata(KEY))?.trace === true;
  }

  /** True if this user has set the mark since the page was loaded. */
  get isSetHere(): boolean {
    return this.setHere && this.isSet;
  }

  /** Set or remove the mark; other metadata stay. */
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
 * Return how far a notebook can be trusted.
 *
 * `trusted`: this user has run or vouched for each code cell, and nobody else changed one since. `empty`:
 * there is no code. JupyterLab trusts the empty cell that it adds to a notebook without cells, which says
 * nothing about the notebook.
 */
export function trustOf(notebook: INotebookModel): 'trusted' | 'empty' | 'untrusted' {
  const code = [...notebook.cells].filter(({ type }) => type === 'code');
  if (!code.some(({ sharedModel }) => sharedModel.getSource().trim() !== '')) {
    return 'empty';
  }
  return code.every(({ trusted }) => trusted) ? 'trusted' : 'untrusted';
}
