/**
 * The records in the order and the groups that the user asked for, and how a cell's runs went.
 *
 * Each function looks at a record a fixed number of times, so that 10,000 of them are put in order between
 * two frames.
 */

import { NOT_KNOWN, NOWHERE, figures, type IFigures } from './figures';
import type { IRecord, Outcome } from './record';
import { isWarmUp } from './repeat';
import type { IEntry } from '../kernel/state';
import { grouped } from './sorting';

export const SORTS = ['newest', 'oldest', 'wall', 'device', 'memory', 'energy'] as const;
export type Sort = (typeof SORTS)[number];

export const GROUPINGS = ['none', 'run', 'cell'] as const;
export type Grouping = (typeof GROUPINGS)[number];

export const OUTCOMES = ['ok', 'error', 'interrupted'] as const;

/** Devices to choose from, at most: a stranger's notebook may name any number. */
const CHOICES = 64;

/** Runs that a trend shows, at most: the newest. */
const TREND = 12;

/** What to show of the records, and how. */
export interface IRecordFilter {
  sort: Sort;
  group: Grouping;
  /** How the cells ended; empty for all of them. */
  outcomes: ReadonlySet<Outcome>;
  /** A device, NOWHERE or NOT_KNOWN; null for all of them. */
  device: string | null;
  mode: IRecord['mode'] | null;
  /** Those with notes alone. */
  noted: boolean;
  /** Found in the cell's title. */
  text: string;
}

export const ALL_RECORDS: IRecordFilter = {
  sort: 'newest',
  group: 'none',
  outcomes: new Set(),
  device: null,
  mode: null,
  noted: false,
  text: ''
};

/** How many of the folded filters leave something out, or put it into groups. */
export function countFilters(filter: IRecordFilter): number {
  const { group, outcomes, device, mode, noted } = filter;
  return [group !== 'none', outcomes.size > 0, device !== null, mode !== null, noted].filter(
    Boolean
  ).length;
}

/** A text for each order: two that differ show other records, or the same ones elsewhere. */
export function orderOf(filter: IRecordFilter): string {
  return JSON.stringify({ ...filter, outcomes: [...filter.outcomes] });
}

export interface ISelected {
  /** In the order asked for. */
  entries: readonly IEntry[];
  /** How many records ended in each way, with the other filters as they are. */
  counts: Record<Outcome, number>;
  /** The largest of the figures that they are sorted by, which fills a bar; by their age: of wall time. */
  scale: number;
  /** How many stand last, because what they are sorted by was not measured. */
  unmeasured: number;
}

/** The records that a filter leaves, of `entries` that come oldest first. */
export function select(entries: readonly IEntry[], filter: IRecordFilter): ISelected {
  const counts = { ok: 0, error: 0, interrupted: 0 };
  const words = filter.text.trim().toLowerCase();
  let scale = 0;
  const left = entries.filter(({ record }) => {
    const known = figures(record);
    if (!suits(record, known, filter, words)) {
      return false;
    }
    counts[record.outcome] += 1;
    if (filter.outcomes.size > 0 && !filter.outcomes.has(record.outcome)) {
      return false;
    }
    scale = Math.max(scale, figureOf(record, filter.sort) ?? 0);
    return true;
  });
  if (filter.sort !== 'oldest') {
    left.reverse();
  }
  const [inOrder, unmeasured] = sorted(filter.sort, left);
  return { entries: inOrder, counts, scale, unmeasured };
}

/** Devices that the records name, and NOWHERE and NOT_KNOWN where that is said of any. */
export function devicesOf(entries: readonly IEntry[]): string[] {
  const found = new Set<string>();
  for (const { record } of entries) {
    for (const device of figures(record).devices) {
      if (found.size < CHOICES) {
        found.add(device);
      }
    }
  }
  const named = [...found].filter(device => !isNoDevice(device)).sort();
  return [...named, ...[NOWHERE, NOT_KNOWN].filter(device => found.has(device))];
}

/** One line of the list: a record, or the heading of a group. */
export type ICellRow =
  { key: string; entry: IEntry; heading: null } | { key: string; entry: null; heading: IHeading };

export interface IHeading {
  group: Exclude<Grouping, 'none'> | 'repeat';
  /** One of its records: what the heading says is the same of all. */
  example: IEntry;
  /** When its first record began. */
  since: string;
  count: number;
  members: readonly IEntry[];
  open: boolean;
}

/**
 * The rows of a list: groups stand in the order of their first record; of closed ones the heading alone. The
 * runs of a cell that repeats are a group by themselves.
 */
export function rowsOf(
  entries: readonly IEntry[],
  group: Grouping,
  closed: ReadonlySet<string>
): ICellRow[] {
  const groups = grouped(entries, ({ key, record }) =>
    group === 'run' ? record.runId : group === 'cell' ? cellOf(record) : repeatOf(record) || key
  );
  const rows: ICellRow[] = [];
  for (const [name, members] of groups) {
    const [example] = members as [IEntry, ...IEntry[]];
    if (group === 'none' && example.record.repeat === null) {
      rows.push(recordRow(example));
      continue;
    }
    const of: IHeading['group'] = group === 'none' ? 'repeat' : group;
    const key = `${of} ${name}`;
    const open = !closed.has(key);
    const { length: count } = members;
    const heading = { group: of, example, since: begin(members), count, members, open };
    rows.push({ key, entry: null, heading });
    for (const entry of open ? members : []) {
      rows.push(recordRow(entry));
    }
  }
  return rows;
}

/** What the runs of a cell that repeats have in common; empty for other records. */
function repeatOf({ runId, cell, repeat }: IRecord): string {
  return repeat === null ? '' : JSON.stringify([runId, cell.executionCount, cell.id, cell.digest]);
}

/** The runs of one cell that count as timings. */
export interface ITrend {
  /** The newest runs, oldest first: seconds of wall time, null where it was not measured. */
  runs: { wall: number | null; outcome: Outcome }[];
  /** How many runs there are in all. */
  count: number;
}

/** The runs of each cell, oldest first, by `cellOf`; profiled ones and those that warm up are left out. */
export type Runs = ReadonlyMap<string, readonly IEntry[]>;

export function runsByCell(entries: readonly IEntry[]): Runs {
  return grouped(entries.filter(isTiming), ({ record }) => cellOf(record));
}

/** How the runs of a record's cell went; null where there is one alone. */
export function trendOf(record: IRecord, runs: Runs): ITrend | null {
  return trendOfRuns(runs.get(cellOf(record)) ?? []);
}

/** How the timed runs of a cell that repeats went, in whatever order they stand; null where there is one alone. */
export function trendOfRepeat(members: readonly IEntry[]): ITrend | null {
  const turn = ({ record }: IEntry): number => record.cell.turn ?? 0;
  return trendOfRuns(members.filter(isTiming).sort((a, b) => turn(a) - turn(b)));
}

function trendOfRuns(all: readonly IEntry[]): ITrend | null {
  if (all.length < 2) {
    return null;
  }
  const newest = all.slice(-TREND).map(entry => ({
    wall: figures(entry.record).wall,
    outcome: entry.record.outcome
  }));
  return { runs: newest, count: all.length };
}

/** The figure that a list in this order shows of a record; null where it was not measured. */
export function figureOf(record: IRecord, sort: Sort): number | null {
  return figures(record)[sort === 'newest' || sort === 'oldest' ? 'wall' : sort];
}

/**
 * What is the same of all runs of a cell: its code, the kernel's process and the device asked for, as
 * `%mlc_trace compare` takes it.
 */
export function cellOf(record: IRecord): string {
  return figures(record).cell;
}

function suits(record: IRecord, own: IFigures, filter: IRecordFilter, words: string): boolean {
  const { device, mode, noted } = filter;
  return (
    (device === null || own.devices.includes(device)) &&
    (mode === null || record.mode === mode) &&
    (!noted || own.noted) &&
    own.name.includes(words)
  );
}

/** The entries by a figure, the largest first, and how many have none and stand last. */
function sorted(sort: Sort, entries: readonly IEntry[]): [readonly IEntry[], number] {
  if (sort === 'newest' || sort === 'oldest') {
    return [entries, 0];
  }
  // Looked up once for each, and not in each comparison.
  const valued = entries.map(entry => ({ entry, value: figureOf(entry.record, sort) ?? -1 }));
  valued.sort((a, b) => b.value - a.value);
  return [valued.map(({ entry }) => entry), valued.filter(({ value }) => value < 0).length];
}

function isTiming({ record }: IEntry): boolean {
  return record.mode !== 'profiled' && !isWarmUp(record);
}

function recordRow(entry: IEntry): ICellRow {
  return { key: entry.key, entry, heading: null };
}

/** When the first of some records began. */
function begin(entries: readonly IEntry[]): string {
  let since = '';
  for (const { record } of entries) {
    since = since === '' || record.startedAt < since ? record.startedAt : since;
  }
  return since;
}

function isNoDevice(device: string): boolean {
  return device === NOWHERE || device === NOT_KNOWN;
}
