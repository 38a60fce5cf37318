/**
 * Keeps a kernel's live counters going once somebody has looked at them: the kernel looks only while a browser says
 * so, and forgets it after some seconds. In a tab behind others timers hardly run; what the kernel sends does come,
 * so each sample is a clock, too.
 */

import { readWatch } from './counters';
import type { KernelModel } from './model';

/** Part of the time for which the kernel believes us that passes before we say it again. */
const SOON_ENOUGH = 0.6;
/** Milliseconds before a kernel that did not answer is told again. */
const PAUSE = 10_000;

export class Watcher {
  /** `tell` says to the kernel that somebody watches, and answers what it answered. */
  constructor(
    private readonly model: KernelModel,
    private readonly tell: () => Promise<Record<string, unknown>>,
    private readonly clock: () => number = () => performance.now()
  ) {}

  /** Somebody looks at the counters. */
  start(): void {
    this.watching = true;
    this.model.stateChanged.connect(this.onState, this);
    this.model.counters.changed.connect(this.onSample, this);
    void this.renew();
  }

  /** Nobody does any more. */
  stop(): void {
    this.watching = false;
    this.watched = null;
    clearTimeout(this.timer);
    this.model.stateChanged.disconnect(this.onState, this);
    this.model.counters.changed.disconnect(this.onSample, this);
  }

  /** A cell may have begun, with which counters that rest go on. */
  wake(): void {
    if (this.model.counters.value.whyResting !== null) {
      void this.renew();
    }
  }

  /** Another run of the kernel has heard of nobody who watches. */
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
      const answer = readWatch(await this.tell());
      this.model.counters.setWatch(answer);
      // Who rests is told again when a cell begins: each message is a sign of life.
      pause = answer.watching ? Math.max(1, answer.seconds * SOON_ENOUGH) * 1000 : 0;
    } catch {
      // The connection's own troubles are told elsewhere; numbers that stay away are said to.
    }
    clearTimeout(this.timer);
    if (this.isWatching() && pause > 0) {
      this.due = this.clock() + pause;
      this.timer = setTimeout(() => void this.renew(), pause);
    }
  }

  /** Asked again after an answer: it may have ended meanwhile. */
  private isWatching(): boolean {
    return this.watching;
  }

  private timer: ReturnType<typeof setTimeout> | undefined;
  /** When the kernel is to be told again. */
  private due = Infinity;
  private watched: string | null = null;
  private watching = false;
}
