/**
 * Keeps a kernel's live counters running. The kernel samples them only while a browser asks, and stops some
 * seconds after the last request. Timers hardly run in background tabs, but messages of the kernel arrive, so
 * each sample also serves as a clock.
 */

import { readWatch } from './counters';
import type { KernelModel } from './model';

/** Part of the kernel's time limit after which the request is repeated. */
const SOON_ENOUGH = 0.6;
/** Milliseconds before a request that failed is repeated. */
const PAUSE = 10_000;

export class CounterRequester {
  /** `send` sends the request to the kernel and resolves with its answer. */
  constructor(
    private readonly model: KernelModel,
    private readonly send: () => Promise<Record<string, unknown>>,
    private readonly clock: () => number = () => performance.now()
  ) {}

  /** Start asking for counters. */
  start(): void {
    this.watching = true;
    this.model.stateChanged.connect(this.onState, this);
    this.model.counters.changed.connect(this.onSample, this);
    void this.renew();
  }

  /** Stop asking for counters. */
  stop(): void {
    this.watching = false;
    this.watched = null;
    clearTimeout(this.timer);
    this.model.stateChanged.disconnect(this.onState, this);
    this.model.counters.changed.disconnect(this.onSample, this);
  }

  /** Ask at once if counters had stopped, because a cell may have begun. */
  wake(): void {
    if (this.model.counters.value.whyStopped !== null) {
      void this.renew();
    }
  }

  /** Ask a new run of the kernel, which has had no request yet. */
  private onState(): void {
    const { kernel, run } = this.model.state;
    if (kernel === 'live' && run !== this.watched) {
      void this.renew();
    }
  }

  private onSample(): void {
    if (this.clock() >= this.due) {
      void this.renew();
    }
  }

  private async renew(): Promise<void> {
    clearTimeout(this.timer);
    this.due = Infinity;
    const { kernel, run } = this.model.state;
    if (kernel !== 'live' || !this.watching) {
      return;
    }
    this.watched = run;
    let pause = PAUSE;
    try {
      const answer = readWatch(await this.send());
      this.model.counters.setWatch(answer);
      // Counters that have stopped resume when a cell begins; a message of the kernel says so.
      pause = answer.watching ? Math.max(1, answer.seconds * SOON_ENOUGH) * 1000 : 0;
    } catch {
      // The connection reports its own errors, and views report numbers that are late.
    }
    clearTimeout(this.timer);
    if (this.isWatching() && pause > 0) {
      this.due = this.clock() + pause;
      this.timer = setTimeout(() => void this.renew(), pause);
    }
  }

  /** A method, because the value may have changed during an await. */
  private isWatching(): boolean {
    return this.watching;
  }

  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Time of the next request on `clock`. */
  private due = Infinity;
  private watched: string | null = null;
  private watching = false;
}
