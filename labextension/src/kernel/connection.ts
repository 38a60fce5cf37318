/**
 * The connection to one kernel: receives its broadcasts, and requests a snapshot when something is missing.
 *
 * Requests go over the control channel of a clone of the connection, which answers while a cell runs. The
 * notebook's own connection may hold messages back for 3 s after a reload. A kernel without the extension
 * only ever gets the standard `comm_info_request`.
 */

import { KernelMessage, type Kernel } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';

import { fetchKernelExit } from './kernelexit';
import { Execution } from './execution';
import type { KernelModel } from './model';
import { NoAnswer, TIMEOUT, connected, request } from './question';
import { readRecords as readPage } from './messages';
import { COMM_ID, RECORDS, REQUEST, SNAPSHOT_REQUEST, readDelta, readSnapshot } from './protocol';
import type { ISnapshot } from './protocol';
import { RefusedError, sentence } from '../language/sentence';
import { CounterRequester } from './counterrequester';
import { SentCells } from './sentcells';

/** Longest pause in milliseconds before a silent kernel is asked again; the pause doubles each time. */
const LONGEST_PAUSE = 60_000;
/** Largest number of requests in a row when each answer leaves a gap. Later deltas ask again. */
const MOST = 5;
/** Milliseconds that an idle kernel has to report the end of its cell before it is asked. */
const GRACE = 1_000;
/** Milliseconds that the cloned connection is kept after a request; longer than a request takes. */
const LINGER = 20_000;

/** Keeps a model up to date with one kernel until it is disposed. */
export class Connection implements IDisposable {
  constructor(
    private readonly kernel: Kernel.IKernelConnection,
    private readonly model: KernelModel,
    /** Returns the language that the notebook's metadata ask the kernel to use. */
    private readonly language: () => unknown,
    /** Shows an output under the cell in which the kernel died. */
    private readonly showExit: (cellId: string, output: Record<string, unknown>) => void
  ) {
    this.sent = new SentCells(kernel);
    this.execution = new Execution(model);
    this.requester = new CounterRequester(model, () => this.request('watch'));
    kernel.iopubMessage.connect(this.onMessage, this);
    kernel.statusChanged.connect(this.onStatus, this);
    kernel.connectionStatusChanged.connect(this.onConnectionStatus, this);
    void this.ask();
  }

  /** Keeps the kernel's live counters running while somebody views them. */
  readonly requester: CounterRequester;

  get isDisposed(): boolean {
    return this.disposed;
  }

  dispose(): void {
    if (this.disposed) {
      return;
    }
    this.disposed = true;
    clearTimeout(this.timer);
    this.requester.stop();
    this.sent.dispose();
    this.closeClone();
    this.kernel.iopubMessage.disconnect(this.onMessage, this);
    this.kernel.statusChanged.disconnect(this.onStatus, this);
    this.kernel.connectionStatusChanged.disconnect(this.onConnectionStatus, this);
  }

  /** Request the kernel's state. One request runs at a time; a later one waits for it. */
  async ask(): Promise<void> {
    this.wanted = true;
    if (this.asking) {
      return;
    }
    this.asking = true;
    clearTimeout(this.timer);
    try {
      for (
        let lastRequested = 0;
        this.wanted && !this.disposed && lastRequested < MOST;
        lastRequested++
      ) {
        this.wanted = false;
        await this.askOnce();
      }
      this.wanted = false;
      this.pause = TIMEOUT;
    } catch (error) {
      if (!this.disposed) {
        this.fail(error);
      }
    } finally {
      this.asking = false;
    }
  }

  /**
   * Send a request of `type` to the extension, which answers while a cell runs.
   *
   * Resolves with the unvalidated answer; rejects with an Error of one sentence.
   */
  async request(type: string, content: object = {}): Promise<Record<string, unknown>> {
    const answer = await this.withClone(clone => request(clone, REQUEST, { ...content, type }));
    if (answer.status !== 'ok') {
      throw new RefusedError(sentence(answer.evalue) ?? 'The kernel could not answer.');
    }
    return answer;
  }

  private async askOnce(): Promise<void> {
    const programming = (await this.kernel.spec)?.language ?? 'python';
    if (programming.toLowerCase() !== 'python') {
      this.model.setKernel('other');
      return;
    }
    const deltas = this.deltas;
    const language = this.language();
    const known = await this.withClone(clone => inquire(clone, language));
    if (this.disposed) {
      return;
    }
    if (known !== null) {
      this.wanted ||= this.model.applySnapshot(known);
      await this.askForOlder();
    } else if (deltas === this.deltas) {
      // Otherwise a delta arrived meanwhile, which is newer than this answer.
      this.model.setKernel('absent');
    }
  }

  /** Send a request over the cloned connection, which stays open for the next request. */
  private async withClone<T>(
    question: (clone: Kernel.IKernelConnection) => Promise<T>
  ): Promise<T> {
    if (this.disposed) {
      throw new NoAnswer('The connection was closed.');
    }
    if (this.clone === null || this.clone.isDisposed) {
      this.clone = this.kernel.clone({ handleComms: false });
    }
    clearTimeout(this.linger);
    this.linger = setTimeout(() => this.closeClone(), LINGER);
    try {
      await connected(this.clone);
      return await question(this.clone);
    } catch (error) {
      // The next request gets a fresh clone.
      this.closeClone();
      throw error;
    }
  }

  private closeClone(): void {
    clearTimeout(this.linger);
    this.clone?.dispose();
    this.clone = null;
  }

  /** Request older records in pages. One long answer would block the page while it is read. */
  private async askForOlder(): Promise<void> {
    let lastRequested: number | null = null;
    for (;;) {
      const before: number | null = this.model.missing;
      // An answer that did not bring these records will not bring them the next time either.
      if (before === null || before === lastRequested || this.wanted || this.disposed) {
        return;
      }
      lastRequested = before;
      const page = readPage(
        await this.withClone(clone => request(clone, REQUEST, { type: RECORDS, before }))
      );
      if (page === null) {
        throw new NoAnswer('The kernel sent records that this version cannot read.');
      }
      // Otherwise they were cleared meanwhile, or have arrived by themselves.
      if (this.model.missing === before) {
        this.model.applyPage(page);
      }
    }
  }

  private fail(error: unknown): void {
    if (!(error instanceof NoAnswer)) {
      console.warn('jupyter_mlgpu could not ask the kernel:', error);
    }
    if (this.model.state.kernel !== 'live' && !this.restarting) {
      this.model.setKernel('silent');
    }
    this.timer = setTimeout(() => void this.ask(), this.pause);
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
  }

  private onMessage(_: Kernel.IKernelConnection, message: KernelMessage.IIOPubMessage): void {
    this.execution.read(message);
    if (!KernelMessage.isCommMsgMsg(message) || message.content.comm_id !== COMM_ID) {
      return;
    }
    const delta = readDelta(message.content.data);
    if (delta !== null) {
      this.deltas += 1;
      if (this.model.applyDelta(delta)) {
        void this.ask();
      }
    }
  }

  private onStatus(_: Kernel.IKernelConnection, status: Kernel.Status): void {
    switch (status) {
      case 'restarting':
      case 'autorestarting':
      case 'starting':
        this.onRestart(status);
        break;
      case 'idle':
        if (this.restarting || this.model.state.kernel === 'silent') {
          this.restarting = false;
          void this.ask();
        } else {
          this.checkEnd();
        }
        break;
      case 'busy':
        this.requester.wake();
        break;
      case 'dead':
        this.noteEnd();
        this.model.setKernel('dead');
        void this.fetchExit();
        break;
      default:
        break;
    }
  }

  /** Note the cell that ran when the kernel ended. */
  private noteEnd(): void {
    const { kernel, running } = this.model.state;
    // The server knows nothing about the end of a kernel without the extension.
    this.ended = kernel === 'absent' ? null : (this.sent.running ?? running[0]?.cell.id ?? null);
    this.sent.forget();
  }

  /** Ask the server for the exit cause of a dead kernel, and show it under the cell that ran. */
  private async fetchExit(): Promise<void> {
    const cellId = this.ended;
    const language = this.language();
    const { exit, output } = await fetchKernelExit(
      this.kernel.id,
      cellId === null ? null : typeof language === 'string' ? language : 'en',
      this.kernel.serverSettings
    );
    if (this.disposed) {
      return;
    }
    this.model.setExit(exit);
    // A cell that was run again meanwhile did not end the kernel that runs it.
    if (cellId !== null && output !== null && !this.sent.has(cellId)) {
      this.showExit(cellId, output);
    }
  }

  private onRestart(status: Kernel.Status): void {
    // `autorestarting` comes after `restarting`.
    if (status === 'restarting') {
      this.noteEnd();
    }
    // A kernel's first start has the status `starting` too.
    if (status !== 'starting' || this.model.state.kernel !== 'asking') {
      this.model.restart();
    }
    if (status !== 'starting') {
      // Forget the exit cause of an earlier process; a restart by the user is no crash.
      this.model.setExit(null);
    }
    if (status === 'autorestarting') {
      void this.fetchExit();
    }
    this.restarting = true;
    // The old process does not answer any more.
    this.closeClone();
  }

  /**
   * Request the state if an idle kernel still seems to run a cell: the message of its end may be lost.
   *
   * This is done once a cell, because older JupyterLabs take our requests for the end of the running cell.
   */
  private checkEnd(): void {
    const stillRunning = (): number | undefined =>
      this.kernel.status === 'idle' ? this.model.state.running.at(-1)?.cell.sequence : undefined;
    const sequence = stillRunning();
    if (sequence === undefined || sequence === this.checked || this.asking) {
      return;
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (stillRunning() === sequence) {
        this.checked = sequence;
        void this.ask();
      }
    }, GRACE);
  }

  private onConnectionStatus(_: Kernel.IKernelConnection, status: Kernel.ConnectionStatus): void {
    // A connection that was lost for a while has missed deltas.
    if (status === 'connected' && this.lost) {
      this.execution.forget();
      void this.ask();
    }
    this.lost = status !== 'connected';
  }

  private asking = false;
  private checked: number | undefined;
  private clone: Kernel.IKernelConnection | null = null;
  private deltas = 0;
  private disposed = false;
  /** Id of the cell that ran when the kernel ended; null if there was none. */
  private ended: string | null = null;
  private readonly execution: Execution;
  private linger: ReturnType<typeof setTimeout> | undefined;
  private lost = false;
  private pause = TIMEOUT;
  private restarting = false;
  private readonly sent: SentCells;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private wanted = false;
}

/** Return the kernel's snapshot; null if the extension is not loaded. */
async function inquire(
  clone: Kernel.IKernelConnection,
  language: unknown
): Promise<ISnapshot | null> {
  const info = await request(clone, 'comm_info_request', { target_name: COMM_ID });
  if (!(COMM_ID in ((info.comms as object | undefined) ?? {}))) {
    return null;
  }
  const snapshot = readSnapshot(await request(clone, SNAPSHOT_REQUEST, { language }));
  if (snapshot === null) {
    throw new NoAnswer('The kernel sent a snapshot that this version cannot read.');
  }
  return snapshot;
}
