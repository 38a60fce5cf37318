/**
 * Live counters: what the machine does now, and did in the last minutes. No DOM, no network.
 *
 * They come twice a second, so they are kept apart from the rest of the state: what lists records is not
 * drawn again for them. The Python side of the same contract is jupyter_mlgpu/jupyter/notebook/watch.py.
 */

import { Signal } from '@lumino/signaling';

import { readStripSoFar } from '../record/strip';
import type { IStripSoFar } from '../record/strip';
import { sentence } from '../language/sentence';
import type { Sentence } from '../language/sentence';
import {
  amount,
  flag,
  list,
  listOf,
  named,
  object,
  or,
  orEmpty,
  shape,
  text
} from '../language/untrusted';
import type { Read } from '../language/untrusted';

/** Seconds of history that are kept, and samples: twice a second. */
const HISTORY = 300;
const SAMPLES = 600;
/** Series that are read: eight GPUs have 36. */
const SERIES = 256;

/** One line of a chart, now or while a cell ran. Each is read, so that values keep their places: what cannot be read has no name. */
export const readLine = orEmpty(
  shape(
    {},
    {
      device: or('', text),
      quantity: or('', text),
      /** share (0 to 1), cores, bytes, W or °C */
      unit: or('', text),
      source: or('', sentence),
      /** The most it can be; null: not known. */
      limit: amount,
      whyMissing: sentence
    }
  )
);

const readSeries = listOf(readLine, SERIES);

export type ISeries = Read<typeof readLine>;

export interface ISample {
  /** Seconds on the kernel's own clock: differences alone mean something. */
  t: number;
  /** In the order of the series; null: not known. */
  values: (number | null)[];
}

function readSample(data: unknown): ISample | null {
  const [time, values] = (Array.isArray(data) ? data : []) as unknown[];
  const t = amount(time);
  return t === null || !Array.isArray(values)
    ? null
    : { t, values: values.slice(0, SERIES).map(amount) };
}

/** An event of the kernel; `series` is there when it has changed. */
export interface ICountersEvent {
  /** UTC on the kernel's machine, as it was sent. */
  time: string;
  sample: ISample;
  series: ISeries[] | null;
  /** What the cell that runs has done so far. */
  strip: IStripSoFar | null;
}

export function readCountersEvent(data: unknown): ICountersEvent | null {
  const table = object(data);
  const sample = readSample([table?.t, table?.values]);
  const series = Array.isArray(table?.series) ? readSeries(table.series) : null;
  const strip = readStripSoFar(table?.strip);
  return sample && { time: text(table?.time) ?? '', sample, series, strip };
}

/** What a snapshot holds. */
export const readCountersHistory = shape(
  {
    /** The moment of the snapshot on the samples' clock. */
    t: amount,
    samples: named('history', value =>
      Array.isArray(value) ? list(value.slice(-SAMPLES), SAMPLES, readSample) : null
    )
  },
  { series: readSeries, interval: or(0.5, amount) }
);

export type ICountersHistory = Read<typeof readCountersHistory>;

/** The kernel's answer to a browser that watches. */
export const readWatch = orEmpty(
  shape(
    {},
    {
      watching: flag,
      /** For how long it holds. */
      seconds: or(0, amount),
      whyMissing: sentence
    }
  )
);

export type IWatch = Read<typeof readWatch>;

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
