/**
 * What a race measured, as `%%mlc_race` leaves it in a notebook: its shape, and the only way in.
 *
 * The Python side of the same contract is jupyter_mlgpu/race/bundle.py.
 */

import {
  FEW,
  LONG,
  amount,
  choice,
  count,
  list,
  object,
  pairs,
  printed,
  versioned
} from './untrusted';
import type { Unreadable } from './untrusted';

export const RACE_TYPE = 'application/vnd.jupyter-mlgpu.race+json';

const SCHEMA = 1;

export interface IRace {
  cell: string;
  head: string;
  sentences: string[];
  outcome: 'ok' | 'error' | 'interrupted';
  /** The name that stood for the size; null: the cell was raced as it is. */
  variable: string | null;
  /** One null where there are no sizes. */
  sizes: (number | null)[];
  lanes: ILane[];
  /** For each size the lane that is certainly faster, and how many times as fast as the next. */
  fastest: (IFastest | null)[];
  crossovers: ICrossover[];
  notes: string[];
  /** What is not here, and how many. */
  cut: ReadonlyMap<string, number>;
}

export interface ILane {
  device: string;
  hardware: string | null;
  problem: string | null;
  /** One a size; null: not measured. */
  timings: (ITiming | null)[];
}

/** Seconds. */
export interface ITiming {
  median: number;
  /** null: a single run has no spread. */
  spread: readonly [low: number, high: number] | null;
  samples: number;
  steady: boolean;
}

export interface IFastest {
  lane: number;
  times: number;
}

/** Where two devices change places. */
export interface ICrossover {
  small: string;
  large: string;
  size: number;
  low: number;
  high: number;
}

const LANES = 16;
const SIZES = 200;
const NAME = 120;

/** Read a race, or say why it cannot be read. */
export function readRace(data: unknown): IRace | Unreadable {
  const table = versioned(data, SCHEMA);
  if (typeof table === 'string') {
    return table;
  }
  const outcome = choice(table.outcome, ['ok', 'error', 'interrupted'] as const);
  const sizes = Array.isArray(table.sizes) ? table.sizes.slice(0, SIZES).map(amount) : null;
  if (outcome === null || sizes === null || !Array.isArray(table.lanes)) {
    return 'invalid';
  }
  const variable = printed(table.variable, NAME);
  const lanes = list(table.lanes, LANES, item => readLane(item, sizes.length));
  return {
    cell: printed(table.cell, NAME) ?? '',
    head: printed(table.head, LONG) ?? '',
    sentences: list(table.sentences, FEW, item => printed(item, LONG)),
    outcome,
    variable,
    sizes,
    lanes,
    fastest: column(table.fastest, sizes.length, item => readFastest(item, lanes.length)),
    crossovers: list(table.crossovers, LANES, readCrossover),
    notes: list(table.notes, FEW, item => printed(item, LONG)),
    cut: new Map(pairs(table.cut, count))
  };
}

function readLane(data: unknown, sizes: number): ILane | null {
  const table = object(data);
  const device = printed(table?.device, NAME);
  return device === null
    ? null
    : {
        device,
        hardware: printed(table?.hardware, NAME),
        problem: printed(table?.problem, LONG),
        timings: column(table?.timings, sizes, readTiming)
      };
}

function readTiming(data: unknown): ITiming | null {
  const table = object(data);
  const median = amount(table?.median);
  if (table === null || median === null) {
    return null;
  }
  const [low, high] = [amount(table.low), amount(table.high)];
  return {
    median,
    spread: low === null || high === null ? null : [low, high],
    samples: count(table.samples) ?? 0,
    steady: table.steady === true
  };
}

function readFastest(data: unknown, lanes: number): IFastest | null {
  const [lane, times] = Array.isArray(data) ? [count(data[0]), amount(data[1])] : [null, null];
  return lane === null || times === null || lane >= lanes ? null : { lane, times };
}

function readCrossover(data: unknown): ICrossover | null {
  const table = object(data);
  const [size, low, high] = [amount(table?.size), amount(table?.low), amount(table?.high)];
  return size === null || low === null || high === null
    ? null
    : {
        small: printed(table?.small, NAME) ?? '',
        large: printed(table?.large, NAME) ?? '',
        size,
        low,
        high
      };
}

/** An item a size, null for what cannot be read: a list whose items keep their places. */
function column<T>(data: unknown, length: number, read: (item: unknown) => T | null): (T | null)[] {
  const items: unknown[] = Array.isArray(data) ? data : [];
  return Array.from({ length }, (_, index) => read(items[index]));
}
