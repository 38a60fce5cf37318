/**
 * Tracing from a command, and notebooks that ask for it themselves.
 *
 * A notebook whose metadata holds `"jupyter_mlgpu": {"trace": true}` gets `%load_ext jupyter_mlgpu` whenever a
 * kernel starts for it, before its first cell. The user alone can put that there, by a command. A notebook may
 * come from a stranger, and loading runs code, a file jupyter_mlgpu.py beside the notebook even: so it is done
 * only where the notebook is trusted, as JupyterLab understands it: each of its code cells was run or
 * vouched for by this user, and none was changed by others since.
 */

import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';

import type { Language } from '../language/language';
import type { Notebooks } from '../kernel/notebooks';
import { notify } from './notices';
import { LOAD_LINE } from '../kernel/protocol';
import { runSilently } from '../kernel/silently';
import type { KernelState } from '../kernel/state';
import { object } from '../language/untrusted';

const KEY = 'jupyter_mlgpu';

/** Kernels in which tracing can be turned on: where the extension is not loaded, it is loaded. */
const CAN_TRACE: readonly KernelState[] = ['live', 'absent'];

export class TracedNotebooks {
  constructor(
    private readonly tracker: INotebookTracker,
    private readonly notebooks: Notebooks,
    private readonly language: Language
  ) {
    tracker.forEach(notebook => this.watch(notebook));
    tracker.widgetAdded.connect((_, notebook) => this.watch(notebook));
  }

  /** Whether tracing can be turned on or off in the notebook in focus. */
  canTrace(): boolean {
    const kernel = this.notebooks.current?.model.state.kernel;
    return kernel !== undefined && CAN_TRACE.includes(kernel);
  }

  /** Turn tracing on or off in the notebook in focus; rejects with an Error of one sentence. */
  async trace(on: boolean): Promise<void> {
    const notebook = this.tracker.currentWidget;
    const session = this.notebooks.current;
    if (notebook === null || session === null || !this.canTrace()) {
      return;
    }
    if (session.model.state.kernel === 'live') {
      await session.tell('trace', { on });
    } else if (on) {
      await this.load(notebook);
    }
  }

  /** Whether the notebook in focus asks to be traced when it opens. */
  isMarked(): boolean {
    const notebook = this.tracker.currentWidget;
    return notebook !== null && asksForIt(notebook);
  }

  /** Write into the notebook in focus that it is to be traced when it opens, or take that back. */
  async mark(on: boolean): Promise<void> {
    const notebook = this.tracker.currentWidget;
    const model = notebook?.context.model;
    if (!notebook || !model) {
      return;
    }
    const others = Object.fromEntries(
      Object.entries(object(model.getMetadata(KEY)) ?? {}).filter(([name]) => name !== 'trace')
    );
    if (on) {
      this.markedHere.add(notebook);
      model.setMetadata(KEY, { ...others, trace: true });
    } else if (Object.keys(others).length > 0) {
      model.setMetadata(KEY, others);
    } else {
      model.deleteMetadata(KEY);
    }
    notify('info', this.language.t(on ? 'markedToTrace' : 'notMarkedToTrace'));
    if (on && this.notebooks.current?.model.state.kernel === 'absent') {
      await this.load(notebook);
    }
  }

  private watch(notebook: NotebookPanel): void {
    const { model } = this.notebooks.of(notebook);
    const { sessionContext } = notebook;
    let before = model.state.kernel;
    let restarting = false;
    model.stateChanged.connect(() => {
      const { kernel } = model.state;
      // Not after `live`: then the user has just unloaded it.
      const found = kernel === 'absent' && before === 'asking';
      before = kernel;
      if (found) {
        void this.kernelStarted(notebook);
      }
    });
    sessionContext.kernelChanged.connect(() => void this.tried.delete(notebook));
    sessionContext.statusChanged.connect((_, status) => {
      if (status === 'restarting' || status === 'autorestarting') {
        this.tried.delete(notebook);
        restarting = before === 'live' || before === 'absent' || before === 'asking';
      }
    });
    // Now, and not when the kernel has said what it knows: "restart and run all" sends its cells next.
    sessionContext.connectionStatusChanged.connect((_, status) => {
      if (status === 'connected' && restarting) {
        restarting = false;
        void this.kernelStarted(notebook);
      }
    });
  }

  private async kernelStarted(notebook: NotebookPanel): Promise<void> {
    if (!notebook.context.isReady) {
      await notebook.context.ready;
    }
    // Once a kernel process: one that cannot load it says so once.
    if (notebook.isDisposed || !asksForIt(notebook) || this.tried.has(notebook)) {
      return;
    }
    this.tried.add(notebook);
    if (this.markedHere.has(notebook) || isTrusted(notebook)) {
      await this.load(notebook);
    } else {
      notify('warning', this.language.t('notTrustedToTrace'));
    }
  }

  private async load(notebook: NotebookPanel): Promise<void> {
    const { sessionContext } = notebook;
    const kernel = sessionContext.session?.kernel;
    const why = await runSilently(sessionContext, LOAD_LINE);
    // A kernel that was ended meanwhile has not failed.
    const ended = notebook.isDisposed || sessionContext.session?.kernel !== kernel;
    if (why !== null && !ended) {
      notify('error', this.language.t('notLoaded', { why }));
    }
  }

  /** Notebooks that this user has marked since the page was loaded. */
  private readonly markedHere = new WeakSet<NotebookPanel>();
  /** Notebooks for whose present kernel process it was tried. */
  private readonly tried = new WeakSet<NotebookPanel>();
}

function asksForIt(notebook: NotebookPanel): boolean {
  return object(notebook.context.model.getMetadata(KEY))?.trace === true;
}

function isTrusted(notebook: NotebookPanel): boolean {
  const code = [...notebook.context.model.cells].filter(({ type }) => type === 'code');
  // JupyterLab puts an empty cell into a notebook without cells, and trusts it: that says nothing of the notebook.
  const some = code.some(({ sharedModel }) => sharedModel.getSource().trim() !== '');
  return some && code.every(({ trusted }) => trusted);
}
