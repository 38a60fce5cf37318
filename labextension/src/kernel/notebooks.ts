/**
 * From JupyterLab's notebooks to our models: one session a notebook, and which of them has the focus.
 */

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
import { load } from './loading';
import type { IWatched, Machine } from './machine';
import { TraceMark, notebookLanguage } from './mark';
import { KernelModel } from './model';
import { progressOf } from './progress';
import { cellsToRun, runInTurn } from './rerun';
import { readSaved, sourceOf, type IReceiptSource } from './saved';

/** Milliseconds of quiet after an edit before the outputs are read again. */
const QUIET = 300;

/** One notebook: its model, kept up to date with its kernel and its saved outputs. */
export class NotebookSession implements ILineFinder, IWatched {
  constructor(
    private readonly notebook: NotebookPanel,
    private readonly shell: JupyterFrontEnd.IShell,
    /** What its server's machine does, for as long as its kernel does not tell it. */
    readonly machine: Machine
  ) {
    this.mark = new TraceMark(notebook);
    this.marks = new CellMarks(notebook);
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

  /** Between the notebook's cells and the list of their records. */
  readonly marks: CellMarks;

  /** Whether the notebook asks to be traced whenever it has a kernel. */
  readonly mark: TraceMark;

  /** Tells the notebooks of this page apart. */
  get id(): string {
    return this.notebook.id;
  }

  /** The notebook's file name. */
  get name(): string {
    return this.notebook.title.label;
  }

  /** The notebook was given another name, among other things. */
  get renamed(): ISignal<unknown, unknown> {
    return this.notebook.title.changed;
  }

  /** The notebook was closed. */
  get closed(): ISignal<unknown, unknown> {
    return this.notebook.disposed;
  }

  /** The cell that has the notebook's cursor, in the page; null: none. */
  get activeNode(): Node | null {
    return this.notebook.content.activeCell?.node ?? null;
  }

  /** What the kernel's machine does now. */
  get counters(): Counters {
    return this.model.counters;
  }

  /**
   * Whether the kernel's live counters come, for one who shows them. The gauges, once looked at, have them in sight or
   * not until they are turned off; the live line has them while it is seen, the strip while a cell runs.
   */
  watch(on: boolean, by: 'gauges' | 'live line' | 'strip' = 'gauges'): undefined {
    const before = this.watchers.size > 0;
    if (on) {
      this.watchers.add(by);
    } else {
      this.watchers.delete(by);
    }
    if (before !== this.watchers.size > 0) {
      const watcher = this.connection?.watcher;
      if (before) {
        watcher?.stop();
      } else {
        watcher?.start();
      }
    }
  }

  /** Ask the kernel again, at the user's wish. */
  ask(): void {
    this.model.setKernel('asking');
    void this.connection?.ask();
  }

  /** Ask or tell the kernel's extension something; rejects with an Error of one sentence. */
  async tell(type: string, content: object = {}): Promise<Record<string, unknown>> {
    if (this.connection === null) {
      throw new Error('This notebook has no kernel.');
    }
    return this.connection.tell(type, content);
  }

  /**
   * Start tracing: the extension is loaded where it is not, which waits for a cell that runs. The model says
   * what came of that. Rejects with an Error of one sentence where an extension that is loaded refuses.
   */
  async start(): Promise<void> {
    if (this.model.state.kernel === 'live') {
      await this.tell('trace', { on: true });
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
    this.model.setStarting(problem);
    if (problem === null && !this.isLive()) {
      // It was there already, unheard.
      void this.connection?.ask();
    }
  }

  /** Have the notebook ask to be traced always, from now on; or take that back. */
  traceAlways(on: boolean): void {
    this.mark.set(on);
    if (on && this.model.state.kernel === 'absent') {
      void this.start();
    }
  }

  /** Give the keyboard to the notebook, on its active cell. */
  focus(): void {
    this.shell.activateById(this.notebook.id);
  }

  /** Show a cell and make it the active one; answers false where the notebook has no such cell. */
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
   * What runs the cells of these records again, so many times each and in turn; null where they are not there as they
   * ran. It answers whether all runs ended well.
   */
  again(
    records: readonly IRecord[]
  ): ((times: number, begins: (run: number) => void) => Promise<boolean>) | null {
    const cells = this.notebook.isDisposed
      ? null
      : cellsToRun(this.notebook, records, this.model.state.entries);
    return cells && ((times, begins) => runInTurn(this.notebook, cells, times, begins));
  }

  /** A line of code in this notebook; null where its cell is not there. */
  readonly findLine = (record: IRecord, line: ISampledLine): ICodeLine | null => {
    const cell = this.notebook.isDisposed ? null : cellOf(this.notebook, record, line);
    return (
      cell && { code: codeOf(cell, record, line), open: () => void this.goToLine(cell, line.line) }
    );
  };

  /** A receipt in the notebook's outputs, as it is saved; null where there is none. */
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

  /** Asked again after an answer. */
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
      this.connection = new Connection(kernel, this.model, () => notebookLanguage(this.notebook));
      if (this.watchers.size > 0) {
        this.connection.watcher.start();
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
      // Begun anew at each change, the reading of a large notebook would never come to its end.
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
  private readonly watchers = new Set<string>();
}

/** A session for every open notebook, so that none misses what its kernel says, and the one in focus. */
export class Notebooks {
  constructor(
    private readonly tracker: INotebookTracker,
    private readonly shell: JupyterFrontEnd.IShell,
    private readonly machine: Machine
  ) {
    tracker.forEach(notebook => this.of(notebook));
    tracker.widgetAdded.connect((_, notebook) => this.of(notebook));
    tracker.currentChanged.connect(() => this.currentChanged.emit());
  }

  /** The session of the notebook that has the focus, or had it last. */
  get current(): NotebookSession | null {
    const notebook = this.tracker.currentWidget;
    return notebook && this.of(notebook);
  }

  /** The session of the notebook in which a node of the page stands. */
  at(node: Node): NotebookSession | null {
    const notebook = this.tracker.find(({ content }) => content.node.contains(node));
    return notebook === undefined ? null : this.of(notebook);
  }

  readonly currentChanged = new Signal<this, void>(this);

  /** The user has just loaded the extension in the notebook in focus. */
  readonly greeted = new Signal<this, void>(this);

  /** The session of a notebook, which JupyterLab may focus before it says that one was added. */
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
