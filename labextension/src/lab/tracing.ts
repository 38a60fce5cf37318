/**
 * Tracing that is turned on from the page: by a button, by a command, and by itself where the user wants that.
 *
 * A notebook whose metadata asks for it (kernel/mark.ts) is traced whenever a kernel starts for it, before its
 * first cell, and with the setting so is each notebook. A notebook may come from a stranger, and loading runs
 * code: so it is done only where the notebook is trusted, as JupyterLab understands it. With the setting also
 * where there is no code yet, for it is the user who asks then, and not the notebook.
 */

import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';

import type { Language } from '../language/language';
import { trustOf } from '../kernel/mark';
import type { NotebookSession, Notebooks } from '../kernel/notebooks';
import { problemInWords } from '../kernel/summary';
import { preferences } from '../sidebar/preferences';
import { notify } from './notices';
import { whyOf } from '../language/sentence';
import type { KernelState } from '../kernel/state';

/** Kernels in which tracing can be turned on: where the extension is not loaded, it is loaded. */
const CAN_TRACE: readonly KernelState[] = ['live', 'absent'];

export class TracedNotebooks {
  /** `inSight`: whether the sidebar can be seen, which says itself what came of it. */
  constructor(
    tracker: INotebookTracker,
    private readonly notebooks: Notebooks,
    private readonly language: Language,
    private readonly inSight: () => boolean
  ) {
    tracker.forEach(notebook => this.watch(notebook));
    tracker.widgetAdded.connect((_, notebook) => this.watch(notebook));
    preferences.changed.connect(() => {
      tracker.forEach(notebook => {
        if (this.notebooks.of(notebook).model.state.kernel === 'absent') {
          void this.kernelStarted(notebook);
        }
      });
    });
  }

  /** Whether tracing can be turned on or off in the notebook in focus. */
  canTrace(): boolean {
    const kernel = this.notebooks.current?.model.state.kernel;
    return kernel !== undefined && CAN_TRACE.includes(kernel);
  }

  /** Turn tracing on or off in the notebook in focus; rejects with an Error of one sentence. */
  async trace(on: boolean): Promise<void> {
    const session = this.notebooks.current;
    if (session === null || !this.canTrace()) {
      return;
    }
    if (on) {
      await this.start(session);
    } else {
      await session.tell('trace', { on });
    }
  }

  /** Start tracing in a notebook; what keeps it from that is said. */
  async start(session: NotebookSession): Promise<void> {
    const { t } = this.language;
    try {
      await session.start();
    } catch (error) {
      notify('error', t.say(whyOf(error)));
    }
    const { starting } = session.model.state;
    if (starting !== null && starting !== 'loading' && !this.inSight()) {
      notify('error', problemInWords(starting, t));
    }
  }

  /** Write into the notebook in focus that it is always to be traced, or take that back. */
  mark(on: boolean): void {
    const session = this.notebooks.current;
    if (session !== null) {
      session.traceAlways(on);
      notify('info', this.language.t(on ? 'markedToTrace' : 'notMarkedToTrace'));
    }
  }

  private watch(notebook: NotebookPanel): void {
    const { model } = this.notebooks.of(notebook);
    const { sessionContext } = notebook;
    let before = model.state.kernel;
    let restarting = false;
    model.stateChanged.connect(() => {
      const { kernel } = model.state;
      // Not after `live`: then the user has just unloaded it. A kernel that starts slowly is silent before.
      const found = kernel === 'absent' && (before === 'asking' || before === 'silent');
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
    const session = this.notebooks.of(notebook);
    if (!notebook.context.isReady) {
      await notebook.context.ready;
    }
    const { traceAlways } = preferences.current;
    const wanted = session.mark.isSet || traceAlways;
    // Once a kernel process: one that cannot load it says so once.
    if (notebook.isDisposed || !wanted || this.tried.has(notebook)) {
      return;
    }
    this.tried.add(notebook);
    const trust = session.mark.isSetHere ? 'trusted' : trustOf(notebook.context.model);
    if (trust === 'trusted' || (trust === 'empty' && traceAlways)) {
      // With the setting alone, a kernel that lacks the extension is no news: the button is there.
      await (session.mark.isSet ? this.start(session) : session.start());
    } else if (session.mark.isSet) {
      notify('warning', this.language.t('notTrustedToTrace'));
    }
  }

  /** Notebooks for whose present kernel process it was tried. */
  private readonly tried = new WeakSet<NotebookPanel>();
}
