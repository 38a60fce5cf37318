/**
 * What was collected from ipyparallel's engines, as a notebook keeps it: its shape, and the only way in.
 *
 * The Python side of the same contract is jupyter_mlgpu/engines/bundle.py.
 */

import { readTimeline } from './timeline';
import type { ITimeline } from './timeline';
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

export const ENGINES_TYPE = 'application/vnd.jupyter-mlgpu.engines+json';

const SCHEMA = 1;

const STATES = ['collected', 'no answer', 'gone'] as const;

export interface IEngines {
  sentences: string[];
  /** What the places in time rest on. */
  clock: string;
  engines: IEngine[];
  /** Records in all; the longest of them are in the timeline. */
  records: number;
  /** A lane an engine, in the order of `engines`. */
  timeline: ITimeline;
  cut: ReadonlyMap<string, number>;
}

/** Times are seconds; null: not known, or there is none. */
export interface IEngine {
  engine: number;
  /** Tells machines apart without naming them. */
  machine: string | null;
  /** Whether that is the machine that collected. */
  here: boolean;
  state: (typeof STATES)[number];
  records: number;
  busy: number | null;
  /** Its clock minus that of the process that collected. */
  offset: number | null;
  uncertainty: number | null;
  /** By how many the offset was estimated; 0: both processes read one clock. */
  roundTrips: number;
  compute: number | null;
  communicate: number | null;
  /** The part of `communicate` before the last engine had come. */
  waiting: number | null;
  waitingUncertainty: number | null;
}

const NAME = 120;

/** Read a collection, or say why it cannot be read. */
export function readEngines(data: unknown): IEngines | Unreadable {
  const table = versioned(data, SCHEMA);
  if (typeof table === 'string') {
    return table;
  }
  const timeline = readTimeline(table.timeline);
  const engines = list(table.engines, FEW, readEngine);
  if (
    timeline === null ||
    !Array.isArray(table.engines) ||
    timeline.lanes.length !== engines.length
  ) {
    return 'invalid';
  }
  return {
    sentences: list(table.sentences, FEW, item => printed(item, LONG)),
    clock: printed(table.clock, LONG) ?? '',
    engines,
    records: count(table.records) ?? 0,
    timeline,
    cut: new Map(pairs(table.cut, count))
  };
}

function readEngine(data: unknown): IEngine | null {
  const table = object(data);
  const engine = count(table?.engine);
  const state = choice(table?.state, STATES);
  if (table === null || engine === null || state === null) {
    return null;
  }
  const { offset } = table;
  return {
    engine,
    machine: printed(table.machine, NAME),
    here: table.here === true,
    state,
    records: count(table.records) ?? 0,
    busy: amount(table.busy),
    offset: typeof offset === 'number' && Number.isFinite(offset) ? offset : null,
    uncertainty: amount(table.uncertainty),
    roundTrips: count(table.round_trips) ?? 0,
    compute: amount(table.compute),
    communicate: amount(table.communicate),
    waiting: amount(table.waiting),
    waitingUncertainty: amount(table.waiting_uncertainty)
  };
}

/** The engine of a lane of the timeline. */
export function engineOf({ engines }: IEngines, line: string): IEngine | undefined {
  return engines.find(({ engine }) => String(engine) === line);
}

/** Seconds from the first record's start to the last one's end. */
export function lengthOf({ timeline }: IEngines): number {
  return timeline.duration / 1e9;
}
