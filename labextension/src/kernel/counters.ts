/**
 * Live counters: what the machine does now, and did in the last minutes. No DOM, no network.
 *
 * They come twice a second, so they are kept apart from the rest of the state: what lists records is not
 * drawn again for them. What they mean is told in jupyter_mlgpu/jupyter/notebook/browser/live_counters.py.
 */

import { Signal } from '@lumino/signaling';

import { readCountersEvent as readKnown, readWatch as readWatchAnswer } from './messages';
import type * as wire from './messages';
import type { ICounterSeries as ISeries, ICountersHistory, ISample, IWatch } from './messages';
import type { Sentence } from '../language/sentence';
import { orEmpty } from '../language/untrusted';
import type { IStripSoFar } from '../record/recordtypes';

export type { ICounterSeries as ISeries, ISample } from './messages';

/** Seconds of history that are kept, and samples: twice a second. */
const HISTORY = 300;
const SAMPLES = 600;

export const readWatch = orEmpty(readWatchAnswer);

/** An event of the kernel, its sample apart. */
export interface ICountersEvent extends Omit<wire.ICountersEvent, keyof ISample> {
  sample: ISample;
}

export function readCountersEvent(data: unknown): ICountersEvent | null {
  const event = readKnown(data);
  return event && { ...event, sample: event };
}

export interface ICounters {
  series: readonly ISeries[];
  /** Oldest first. */
  samples: readonly ISample[];
  /** Seconds between two samples. */
  interval: number;
  /** UTC on the kernel's machine of the newest sample; null: it came with a snapshot. */
  sampled: string | null;
  /** Milliseconds of this browser's calendar at the samples' zero. */
  zero: number;
  /** Why no more samples come, as the kernel says. */
  whyResting: Sentence | null;
  /** What the cell that runs had done when the newest sample came. */
  strip: IStripSoFar | null;
}

const NOTHING: ICounters = {
  series: [],
  samples: [],
  interval: 0.5,
  sampled: null,
  zero: 0,
  whyResting: null,
  strip: null
};

/**
 * The counters of one kernel, or of a machine. `clock` gives milliseconds of the calendar; tests bring their own.
 * `interval`: seconds between two samples, until a snapshot says so.
 */
export class Counters {
  constructor(
    private readonly clock: () => number = () => Date.now(),
    interval = NOTHING.interval
  ) {
    this.current = { ...NOTHING, interval };
  }

  /** A value that is replaced, never changed. */
  get value(): ICounters {
    return this.current;
  }

  readonly changed = new Signal<this, void>(this);

  /** A sample has come; one that is older than the newest, or fits no series, is left out. */
  add({ time, sample, series, strip }: ICountersEvent): void {
    const { samples, series: known } = this.current;
    const last = samples.at(-1);
    const now = series ?? known;
    if (sample.values.length !== now.length || (last !== undefined && sample.t <= last.t)) {
      return;
    }
    this.publish({
      ...this.current,
      series: now,
      samples: newest([...(sameLines(known, now) ? samples : []), sample]),
      sampled: time,
      zero: this.clock() - sample.t * 1000,
      whyResting: null,
      strip
    });
  }

  /** A snapshot has come; it holds the whole history. */
  restore(history: ICountersHistory | null): void {
    if (history === null) {
      this.forget();
      return;
    }
    const { series, interval, t } = history;
    const samples = newest(history.samples.filter(({ values }) => values.length === series.length));
    const zero = this.clock() - t * 1000;
    const { whyResting } = this.current;
    this.publish({ ...NOTHING, series, samples, interval, zero, whyResting });
  }

  /** What the kernel answered to a browser that watches. */
  setWatch({ watching, whyMissing }: IWatch): void {
    this.publish({ ...this.current, whyResting: watching ? null : (whyMissing ?? '') });
  }

  /** The kernel is another one. */
  forget(): void {
    if (this.current !== NOTHING) {
      this.publish(NOTHING);
    }
  }

  private publish(value: ICounters): void {
    this.current = value;
    this.changed.emit();
  }

  private current: ICounters;
}

function newest(samples: readonly ISample[]): ISample[] {
  const from = (samples.at(-1)?.t ?? 0) - HISTORY;
  return samples.slice(-SAMPLES).filter(({ t }) => t >= from);
}

/** Whether values of two lists of series stand for the same lines: reasons may differ. */
function sameLines(some: readonly ISeries[], others: readonly ISeries[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ device, quantity }, index) => {
      const other = others[index];
      return device === other?.device && quantity === other.quantity;
    })
  );
}
