/**
 * The wire to one kernel: hears its broadcasts, and asks it for a snapshot when something is missing.
 *
 * Questions go over the control channel of a clone of the connection, because that answers while a
 * cell runs: the notebook's own connection may hold messages back for 3 s after a reload. A kernel
 * without the extension only ever gets the standard `comm_info_request`.
 */

import { KernelMessage, type Kernel } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';

import { askDeath } from './kernelexit';
import { Execution } from './execution';
import type { KernelModel } from './model';
import { NoAnswer, PATIENCE, connected, request } from './question';
import {
  COMM_ID,
  RECORDS,
  REQUEST,
  SNAPSHOT_REQUEST,
  readDelta,
  readPage,
  readSnapshot
} from './protocol';
import type { ISnapshot } from './protocol';
import { RefusedError, sentence } from '../language/sentence';
import { Watcher } from './watcher';

/** The longest pause before a silent kernel is asked again; it is doubled each time. */
const LONGEST_PAUSE = 60_000;
/** Questions in a row, each because the answer to the one before leaves a gap; what comes next will tell. */
const MOST = 5;
/** Milliseconds an idle kernel gets to report the end of its cell before we ask. */
const GRACE = 1_000;
/** Milliseconds for which a connection of our own is kept after a question; more than a question takes. */
const LINGER = 20_000;

/** Keeps a model up to date with one kernel until it is disposed. */
export class Connection implements IDisposable {
  constructor(
    private readonly kernel: Kernel.IKernelConnection,
    private readonly model: KernelModel,
    /** The language that the notebook's metadata ask the kernel to speak. */
    private readonly language: () => unknown
  ) {
    this.execution = new Execution(model);
    this.watcher = new Watcher(model, () => this.tell('watch'));
    kernel.iopubMessage.connect(this.onMessage, this);
    kernel.statusChanged.connect(this.onStatus, this);
    kernel.connectionStatusChanged.connect(this.onConnectionStatus, this);
    void this.ask();
  }

  /** Says to the kernel that somebody sees its live counters. */
  readonly watcher: Watcher;

  get isDisposed(): boolean {
    return this.disposed;
  }

  dispose(): void {
    if (this.disposed) {
      return;
    }
    this.disposed = true;
    clearTimeout(this.timer);
    this.watcher.stop();
    this.hangUp();
    this.kernel.iopubMessage.disconnect(this.onMessage, this);
    this.kernel.statusChanged.disconnect(this.onStatus, this);
    this.kernel.connectionStatusChanged.disconnect(this.onConnectionStatus, this);
  }

  /** Ask for what the kernel knows; one question at a time, a later one waits for the first. */
  async ask(): Promise<void> {
    this.wanted = true;
    if (this.asking) {
      return;
    }
    this.asking = true;
    clearTimeout(this.timer);
    try {
      for (let asked = 0; this.wanted && !this.disposed && asked < MOST; asked++) {
        this.wanted = false;
        await this.askOnce();
      }
      this.wanted = false;
      this.pause = PATIENCE;
    } catch (error) {
      if (!this.disposed) {
        this.fail(error);
      }
    } finally {
      this.asking = false;
    }
  }

  /**
   * Ask or tell the extension something of `type`, answered also while a cell runs.
   *
   * Resolves with the answer, in which nothing is vouched for; rejects with an Error of one sentence.
   */
  async tell(type: string, content: object = {}): Promise<Record<string, unknown>> {
    const answer = await this.inPrivate(clone => request(clone, REQUEST, { ...content, type }));
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
    const known = await this.inPrivate(clone => inquire(clone, language));
    if (this.disposed) {
      return;
    }
    if (known !== null) {
      this.wanted ||= this.model.applySnapshot(known);
      await this.askForOlder();
    } else if (deltas === this.deltas) {
      // Else a delta that came meanwhile is newer than this answer.
      this.model.setKernel('absent');
    }
  }

  /** Ask over a connection of our own. It stays for a while: who watches asks every few seconds. */
  private async inPrivate<T>(
    question: (clone: Kernel.IKernelConnection) => Promise<T>
  ): Promise<T> {
    if (this.disposed) {
      throw new NoAnswer('The connection was closed.');
    }
    if (this.clone === null || this.clone.isDisposed) {
      this.clone = this.kernel.clone({ handleComms: false });
    }
    clearTimeout(this.linger);
    this.linger = setTimeout(() => this.hangUp(), LINGER);
    try {
      await connected(this.clone);
      return await question(this.clone);
    } catch (error) {
      // The next question gets a fresh one.
      this.hangUp();
      throw error;
    }
  }

  private hangUp(): void {
    clearTimeout(this.linger);
    this.clone?.dispose();
    this.clone = null;
  }

  /** Older records come in pages, so that no answer is so long that reading it blocks the page. */
  private async askForOlder(): Promise<void> {
    let asked: number | null = null;
    for (;;) {
      const before: number | null = this.model.missing;
      // An answer that did not bring them will not do so the next time.
      if (before === null || before === asked || this.wanted || this.disposed) {
        return;
      }
      asked = before;
      const page = readPage(
        await this.inPrivate(clone => request(clone, REQUEST, { type: RECORDS, before }))
      );
      if (page === null) {
        throw new NoAnswer('The kernel sent records that this version cannot read.');
      }
      // Else they were cleared meanwhile, or have come by themselves.
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
    this.execution.hear(message);
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
        this.watcher.wake();
        break;
      case 'dead':
        this.model.setKernel('dead');
        void this.askWhy();
        break;
      default:
        break;
    }
  }

  /** The server has seen the kernel die. */
  private async askWhy(): Promise<void> {
    const death = await askDeath(this.kernel.id, this.kernel.serverSettings);
    if (!this.disposed) {
      this.model.setDeath(death);
    }
  }

  private onRestart(status: Kernel.Status): void {
    // A kernel that starts for the first time is `starting` too.
    if (status !== 'starting' || this.model.state.kernel !== 'asking') {
      this.model.restart();
    }
    if (status !== 'starting') {
      // Of a death before this one, or of none: a restart that the user wants is no death.
      this.model.setDeath(null);
    }
    if (status === 'autorestarting') {
      void this.askWhy();
    }
    this.restarting = true;
    // The old process will not answer any more.
    this.hangUp();
  }

  /**
   * The kernel is idle: ask if it still seems to run a cell, whose end may have been lost on its way.
   *
   * Once a cell: older JupyterLabs take our own questions for the end of the running cell.
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
  private readonly execution: Execution;
  private linger: ReturnType<typeof setTimeout> | undefined;
  private lost = false;
  private pause = PATIENCE;
  private restarting = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private wanted = false;
}

/** What the kernel knows; null where the extension is not loaded. */
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
