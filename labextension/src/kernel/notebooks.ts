/**
 * From JupyterLab's notebooks to our models: one session a notebook, and which of them has the focus.
 */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { Cell } from '@jupyterlab/cells';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import type { ISignal } from '@lumino/signaling';

import type { ICodeLine, ILineFinder } from '../receipts/linedoor';
import type { IHotLine } from '../record/limits';
import type { IRecord } from '../record/record';
import { CellMarks } from '../sidebar/cellmarks';
import { cellOf, codeOf, putCursor } from './codelines';
import { Connection } from './connection';
import { KernelModel } from './model';
import { readSaved, sourceOf } from './saved';

/** Milliseconds of quiet after an edit before the outputs are read again. */
const QUIET = 300;

/** One notebook: its model, kept up to date with its kernel and its saved outputs. */
export class NotebookSession implements ILineFinder {
  constructor(
    private readonly notebook: NotebookPanel,
    private readonly shell: JupyterFrontEnd.IShell
  ) {
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

  /** The cell that has the notebook's cursor, in the page; null: none. */
  get activeNode(): Node | null {
    return this.notebook.content.activeCell?.node ?? null;
  }

  /** Somebody can see the kernel's live counters. Answers what ends that. */
  watch(): () => void {
    this.watchers += 1;
    if (this.watchers === 1) {
      this.connection?.watcher.start();
    }
    return () => {
      this.watchers -= 1;
      if (this.watchers === 0) {
        this.connection?.watcher.stop();
      }
    };
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

  /** A line of code in this notebook; null where its cell is not there. */
  readonly findLine = (record: IRecord, line: IHotLine): ICodeLine | null => {
    const cell = this.notebook.isDisposed ? null : cellOf(this.notebook, record, line);
    return (
      cell && { code: codeOf(cell, record, line), open: () => void this.goToLine(cell, line.line) }
    );
  };

  /** The data of a receipt in the notebook's outputs, as it is saved; null where there is none. */
  receipt(runId: string, sequence: number): object | null {
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
      this.connection = new Connection(kernel, this.model);
      if (this.watchers > 0) {
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
      this.model.setSaved(saved.entries, saved.figures);
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
  private watchers = 0;
}

/** A session for every open notebook, so that none misses what its kernel says, and the one in focus. */
export class Notebooks {
  constructor(
    private readonly tracker: INotebookTracker,
    private readonly shell: JupyterFrontEnd.IShell
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
      session = new NotebookSession(notebook, this.shell);
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
