/** Sessions of the open notebooks, and the one in focus. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { Cell } from '@jupyterlab/cells';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import { Signal, type ISignal } from '@lumino/signaling';

import type { ICodeLine, ILineFinder } from '../receipts/providers';
import type { ISampledLine } from '../record/openreceipt';
import type { IRecord } from '../record/record';
import { CellMarks } from '../sidebar/cellmarks';
import { cellOf, codeOf, putCursor } from './codelines';
import { Connection } from './connection';
import type { Counters } from './counters';
import { EXIT_MIME_TYPE } from './kernelexit';
import { load } from './loading';
import type { ICounterSource, Machine } from './machine';
import { TraceMark, notebookLanguage } from './mark';
import { KernelModel } from './model';
import { addOutput } from './outputs';
import { progressOf } from './progress';
import { cellsToRun, runInTurn } from './rerun';
import { readSaved, sourceOf, type IReceiptSource } from './saved';

/** Milliseconds without an edit before the outputs are read again. */
const QUIET = 300;

/** One notebook, with a model that follows its kernel and its saved outputs. */
export class NotebookSession implements ILineFinder, ICounterSource {
  constructor(
    private readonly notebook: NotebookPanel,
    private readonly shell: JupyterFrontEnd.IShell,
    /** The counters of the server's machine, used while the kernel sends none. */
    readonly machine: Machine
  ) {
    this.traceMark = new TraceMark(notebook);
    this.cellMarks = new CellMarks(notebook);
    const { sessionContext } = notebook;
    sessionContext.kernelChanged.connect(this.connect, this);
    sessionContext.ready.then(
      () => this.connect(),
      () => undefined
    );
    this.connect();
    notebook.context.ready.then(
      () => {
        void this.readOutputs();
        notebook.context.model.contentChanged.connect(this.readOutputsSoon, this);
      },
      () => undefined
    );
    notebook.disposed.connect(this.dispose, this);
  }

  readonly model = new KernelModel();

  /** Highlights that connect the notebook's cells with the list of their records. */
  readonly cellMarks: CellMarks;

  /** The notebook's tracing mark. */
  readonly traceMark: TraceMark;

  /** Id of the notebook in this page. */
  get id(): string {
    return this.notebook.id;
  }

  get name(): string {
    return this.notebook.title.label;
  }

  /** Emitted when the notebook's title changes, among other things. */
  get renamed(): ISignal<unknown, unknown> {
    return this.notebook.title.changed;
  }

  /** Emitted when the notebook is closed. */
  get closed(): ISignal<unknown, unknown> {
    return this.notebook.disposed;
  }

  /** DOM node of the active cell; null if there is none. */
  get activeNode(): Node | null {
    return this.notebook.content.activeCell?.node ?? null;
  }

  /** Live counters of the kernel's machine. */
  get counters(): Counters {
    return this.model.counters;
  }

  /**
   * Say that a view needs the kernel's live counters, or no longer does. The gauges need them from their
   * first drawing until they are turned off, the live line while it is visible, and the strip while a cell
   * runs.
   */
  requestCounters(on: boolean, by: 'gauges' | 'live line' | 'strip' = 'gauges'): undefined {
    const before = this.viewers.size > 0;
    if (on) {
      this.viewers.add(by);
    } else {
      this.viewers.delete(by);
    }
    if (before !== this.viewers.size > 0) {
      const requester = this.connection?.requester;
      if (before) {
        requester?.stop();
      } else {
        requester?.start();
      }
    }
  }

  /** Request the kernel's state again for the user. */
  ask(): void {
    this.model.setKernel('asking');
    void this.connection?.ask();
  }

  /** Send a request to the kernel's extension; rejects with an Error of one sentence. */
  async request(type: string, content: object = {}): Promise<Record<string, unknown>> {
    if (this.connection === null) {
      throw new Error('This notebook has no kernel.');
    }
    return this.connection.request(type, content);
  }

  /**
   * Start tracing. The extension is loaded first if necessary, after the running cell. The model has the
   * result, but if `quiet` not that the kernel lacks the package. Rejects with an Error of one sentence if a
   * loaded extension refuses.
   */
  async start(quiet = false): Promise<void> {
    if (this.model.state.kernel === 'live') {
      await this.request('trace', { on: true });
      return;
    }
    if (this.model.state.starting === 'loading') {
      return;
    }
    const { kernel } = this;
    this.model.setStarting('loading');
    const problem = await load(this.notebook.sessionContext);
    // A kernel that was ended meanwhile has not failed.
    if (this.notebook.isDisposed || this.kernel !== kernel) {
      return;
    }
    this.model.setStarting(quiet && problem?.missing === true ? null : problem);
    if (problem === null && !this.isLive()) {
      // It was loaded before, but its greeting was missed.
      void this.connection?.ask();
    }
  }

  /** Set or remove the tracing mark, and start tracing where it is set. */
  traceAlways(on: boolean): void {
    this.traceMark.set(on);
    if (on && this.model.state.kernel === 'absent') {
      void this.start();
    }
  }

  /** Move the keyboard focus to the notebook's active cell. */
  focus(): void {
    this.shell.activateById(this.notebook.id);
  }

  /** Scroll to a cell and activate it; returns false if the notebook has no such cell. */
  async goToCell(id: string): Promise<boolean> {
    const { content } = this.notebook;
    const index = content.widgets.findIndex(cell => cell.model.id === id);
    const cell = content.widgets[index];
    if (!cell) {
      return false;
    }
    this.shell.activateById(this.notebook.id);
    content.deselectAll();
    content.activeCellIndex = index;
    await content.scrollToCell(cell, 'center');
    return true;
  }

  /**
   * Return a function that runs the cells of these records in turn, several times. It resolves with true if
   * all runs succeeded. Null if a cell is gone or has changed.
   */
  again(
    records: readonly IRecord[]
  ): ((times: number, begins: (run: number) => void) => Promise<boolean>) | null {
    const cells = this.notebook.isDisposed
      ? null
      : cellsToRun(this.notebook, records, this.model.state.entries);
    return cells && ((times, begins) => runInTurn(this.notebook, cells, times, begins));
  }

  /** Find a line of code in this notebook; null if its cell is gone. */
  readonly findLine = (record: IRecord, line: ISampledLine): ICodeLine | null => {
    const cell = this.notebook.isDisposed ? null : cellOf(this.notebook, record, line);
    return (
      cell && { code: codeOf(cell, record, line), open: () => void this.goToLine(cell, line.line) }
    );
  };

  /** Return a saved receipt from the notebook's outputs; null if there is none. */
  receipt({ runId, cell: { sequence } }: IRecord): IReceiptSource | null {
    const entry = this.model.state.saved.find(
      ({ record }) => record.runId === runId && record.cell.sequence === sequence
    );
    return entry === undefined ? null : sourceOf(entry.record);
  }

  private async goToLine(cell: Cell, line: number): Promise<void> {
    if (!cell.isDisposed && (await this.goToCell(cell.model.id))) {
      await putCursor(this.notebook, cell, line);
    }
  }

  /** A method, because TypeScript would keep the state that it knew before an await. */
  private isLive(): boolean {
    return this.model.state.kernel === 'live';
  }

  private connect(): void {
    const kernel = this.notebook.sessionContext.session?.kernel ?? null;
    if (kernel !== null && kernel === this.kernel) {
      return;
    }
    this.connection?.dispose();
    this.connection = null;
    this.kernel = kernel;
    this.model.setKernel('none');
    if (kernel !== null) {
      this.model.setKernel('asking');
      this.connection = new Connection(
        kernel,
        this.model,
        () => notebookLanguage(this.notebook),
        (cellId, output) => {
          if (this.notebook.model !== null) {
            addOutput(this.notebook.model, cellId, EXIT_MIME_TYPE, output);
          }
        }
      );
      if (this.viewers.size > 0) {
        this.connection.requester.start();
      }
    }
  }

  private readOutputsSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.readOutputs(), QUIET);
  }

  private async readOutputs(): Promise<void> {
    const { model } = this.notebook;
    if (this.notebook.isDisposed || model === null) {
      return;
    }
    if (this.reading) {
      // Started again at each change, the reading of a large notebook would never finish.
      this.readOutputsSoon();
      return;
    }
    this.reading = new AbortController();
    const saved = await readSaved(model, this.reading.signal);
    this.reading = undefined;
    if (saved !== null) {
      this.model.setSaved(saved.entries, saved.figures, progressOf(model));
    }
  }

  private dispose(): void {
    clearTimeout(this.timer);
    this.reading?.abort();
    this.connection?.dispose();
    Signal.clearData(this);
  }

  private connection: Connection | null = null;
  private kernel: Kernel.IKernelConnection | null = null;
  private reading: AbortController | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly viewers = new Set<string>();
}

/** The sessions of all open notebooks, so that no message of a kernel is missed, and the one in focus. */
export class Notebooks {
  constructor(
    private readonly tracker: INotebookTracker,
    private readonly shell: JupyterFrontEnd.IShell,
    private readonly machine: Machine
  ) {
    forEachNotebook(tracker, notebook => this.of(notebook));
    tracker.currentChanged.connect(() => this.currentChanged.emit());
  }

  /** Session of the notebook that has the focus, or had it last. */
  get current(): NotebookSession | null {
    const notebook = this.tracker.currentWidget;
    return notebook && this.of(notebook);
  }

  /** Return the session of the notebook that contains a DOM node. */
  at(node: Node): NotebookSession | null {
    const notebook = this.tracker.find(({ content }) => content.node.contains(node));
    return notebook === undefined ? null : this.of(notebook);
  }

  readonly currentChanged = new Signal<this, void>(this);

  /** Emitted when the user loads the extension in the notebook in focus. */
  readonly greeted = new Signal<this, void>(this);

  /** Return the session of a notebook. JupyterLab may focus a notebook before it announces it. */
  of(notebook: NotebookPanel): NotebookSession {
    let session = this.sessions.get(notebook);
    if (session === undefined) {
      session = new NotebookSession(notebook, this.shell, this.machine);
      this.sessions.set(notebook, session);
      session.model.greeted.connect(() => {
        if (notebook === this.tracker.currentWidget) {
          this.greeted.emit();
        }
      });
      notebook.disposed.connect(() => this.sessions.delete(notebook));
    }
    return session;
  }

  private readonly sessions = new Map<NotebookPanel, NotebookSession>();
}

/** Call a function for each open notebook, and for each that is opened later. */
export function forEachNotebook(
  tracker: INotebookTracker,
  call: (notebook: NotebookPanel) => void
): void {
  tracker.forEach(call);
  tracker.widgetAdded.connect((_, notebook) => call(notebook));
}
