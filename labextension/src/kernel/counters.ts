/**
 * Live counters: the machine's current state and its last minutes. No DOM, no network.
 *
 * They arrive twice a second and are kept apart from the rest of the state, so that lists of records are not
 * drawn again for them. jupyter_mlgpu/jupyter/notebook/browser/live_counters.py defines their meaning.
 */

import { Signal } from '@lumino/signaling';

import { readCountersEvent as readKnown, readWatch as readWatchAnswer } from './messages';
import type * as wire from './messages';
import type { ICounterSeries as ISeries, ICountersHistory, ISample, IWatch } from './messages';
import type { Sentence } from '../language/sentence';
import { orEmpty } from '../language/untrusted';
import type { IStripSoFar } from '../record/recordtypes';

export type { ICounterSeries as ISeries, ISample } from './messages';

/** Seconds of history to keep, and the largest number of samples, two a second. */
const HISTORY = 300;
const SAMPLES = 600;

export const readWatch = orEmpty(readWatchAnswer);

/** A counters event with its sample as one object. */
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
  /** UTC time of the newest sample on the kernel's machine; null if it came with a snapshot. */
  sampled: string | null;
  /** This browser's clock, in milliseconds since 1970, at the samples' time zero. */
  zero: number;
  /** Reason why no more samples come, from the kernel; null while they come. */
  whyStopped: Sentence | null;
  /** Activity of the running cell until the newest sample. */
  strip: IStripSoFar | null;
}

const NOTHING: ICounters = {
  series: [],
  samples: [],
  interval: 0.5,
  sampled: null,
  zero: 0,
  whyStopped: null,
  strip: null
};

/** The counters of one kernel, or of a machine. `clock` gives milliseconds since 1970; tests pass their own. */
export class Counters {
  constructor(private readonly clock: () => number = () => Date.now()) {}

  /** An immutable value. */
  get value(): ICounters {
    return this.current;
  }

  readonly changed = new Signal<this, void>(this);

  /** Add a sample. One that is older than the newest, or does not fit the series, is ignored. */
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
      whyStopped: null,
      strip
    });
  }

  /** Replace everything with the history in a snapshot. */
  restore(history: ICountersHistory | null): void {
    if (history === null) {
      this.forget();
      return;
    }
    const { series, interval, t } = history;
    const samples = newest(history.samples.filter(({ values }) => values.length === series.length));
    const zero = this.clock() - t * 1000;
    const { whyStopped } = this.current;
    this.publish({ ...NOTHING, series, samples, interval, zero, whyStopped });
  }

  /** Store the kernel's answer to a browser that asked for counters. */
  setWatch({ watching, whyMissing }: IWatch): void {
    this.publish({ ...this.current, whyStopped: watching ? null : (whyMissing ?? '') });
  }

  /** Drop everything, because the kernel is another one. */
  forget(): void {
    if (this.current !== NOTHING) {
      this.publish(NOTHING);
    }
  }

  private publish(value: ICounters): void {
    this.current = value;
    this.changed.emit();
  }

  private current: ICounters = NOTHING;
}

function newest(samples: readonly ISample[]): ISample[] {
  const from = (samples.at(-1)?.t ?? 0) - HISTORY;
  return samples.slice(-SAMPLES).filter(({ t }) => t >= from);
}

/** Return true if two lists of series have the same devices and quantities. */
function sameLines(some: readonly ISeries[], others: readonly ISeries[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ device, quantity }, index) => {
      const other = others[index];
      return device === other?.device && quantity === other.quantity;
    })
  );
}
