/**
 * Starts tracing from the page: by a button, by a command, or automatically.
 *
 * Tracing that was on when a kernel is restarted goes on in the new process.
 *
 * A notebook with the tracing mark (kernel/mark.ts) is traced with every kernel, before its first cell. With
 * the setting every notebook is. Loading the extension runs code, and a notebook may come from a stranger, so
 * automatic tracing needs a notebook that JupyterLab trusts. With the setting, which is the user's own wish,
 * a notebook without code is enough.
 */

import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';

import type { Language } from '../language/language';
import { trustOf } from '../kernel/mark';
import { forEachNotebook, type NotebookSession, type Notebooks } from '../kernel/notebooks';
import { problemInWords } from '../kernel/summary';
import { preferences } from '../sidebar/preferences';
import { notify } from './notices';
import { whyOf } from '../language/sentence';
import { isTracing, type KernelState } from '../kernel/state';

/** Kernel states in which tracing can be started; in `absent` the extension is loaded first. */
const CAN_TRACE: readonly KernelState[] = ['live', 'absent'];

export class TracedNotebooks {
  /** `inSight` returns true if the sidebar is visible, which reports the result itself. */
  constructor(
    tracker: INotebookTracker,
    private readonly notebooks: Notebooks,
    private readonly language: Language,
    private readonly inSight: () => boolean
  ) {
    forEachNotebook(tracker, notebook => this.watch(notebook));
    preferences.changed.connect(() => {
      tracker.forEach(notebook => {
        if (this.notebooks.of(notebook).model.state.kernel === 'absent') {
          void this.kernelStarted(notebook);
        }
      });
    });
  }

  /** Return true if tracing can be turned on or off in the notebook in focus. */
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
      await session.request('trace', { on });
    }
  }

  /** Stop tracing in a notebook; an error is shown as a notification. */
  async stop(session: NotebookSession): Promise<void> {
    try {
      await session.request('trace', { on: false });
    } catch (error) {
      notify('error', this.language.t.say(whyOf(error)));
    }
  }

  /** Start tracing in a notebook; an error is shown as a notification. */
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

  /** Set or remove the tracing mark of the notebook in focus. */
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
      if (kernel === 'live') {
        this.setTraced(notebook, isTracing(model.state));
      } else if (before === 'live' && kernel === 'absent') {
        // The user has unloaded the extension.
        this.setTraced(notebook, false);
      }
      // Not after `live`, because the user has unloaded it then. A kernel that starts slowly is `silent`
      // first.
      const found = kernel === 'absent' && (before === 'asking' || before === 'silent');
      before = kernel;
      if (found) {
        void this.kernelStarted(notebook);
      }
    });
    sessionContext.kernelChanged.connect(() => {
      this.tried.delete(notebook);
      this.setTraced(notebook, false);
    });
    sessionContext.statusChanged.connect((_, status) => {
      if (status === 'restarting' || status === 'autorestarting') {
        this.tried.delete(notebook);
        restarting = before === 'live' || before === 'absent' || before === 'asking';
      }
    });
    // Not later, because "restart and run all" sends its cells next.
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
    const goesOn = this.traced.has(notebook);
    const marked = session.traceMark.isSet;
    const wanted = goesOn || marked || traceAlways;
    // Once for each kernel process, so that a failure is reported once.
    if (notebook.isDisposed || !wanted || this.tried.has(notebook)) {
      return;
    }
    this.tried.add(notebook);
    const allowed = goesOn || session.traceMark.isSetHere;
    const trust = allowed ? 'trusted' : trustOf(notebook.context.model);
    if (trust === 'trusted' || (trust === 'empty' && traceAlways)) {
      // Without the mark, a kernel without the extension is not reported.
      await (marked ? this.start(session) : session.start(goesOn));
    } else if (marked) {
      notify('warning', this.language.t('notTrustedToTrace'));
    }
  }

  private setTraced(notebook: NotebookPanel, traced: boolean): void {
    if (traced) {
      this.traced.add(notebook);
    } else {
      this.traced.delete(notebook);
    }
  }

  /** Notebooks that were traced when their kernel was last live. */
  private readonly traced = new WeakSet<NotebookPanel>();

  /** Notebooks in whose current kernel process it was tried. */
  private readonly tried = new WeakSet<NotebookPanel>();
}
