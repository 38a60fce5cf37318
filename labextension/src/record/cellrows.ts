/**
 * The list of records: filtered, sorted and grouped, with the trend of each cell's runs.
 *
 * Each function reads a record a fixed number of times, so that 10,000 records are sorted between two frames.
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

/** Largest number of devices to choose from, because a stranger's notebook may name any number. */
const CHOICES = 64;

/** Largest number of runs in a trend; the newest ones. */
const TREND = 12;

/** Filter, sort order and grouping of the list. */
export interface IRecordFilter {
  sort: Sort;
  group: Grouping;
  /** Outcomes to list; empty for all. */
  outcomes: ReadonlySet<Outcome>;
  /** A device, NOWHERE or NOT_KNOWN; null for all. */
  device: string | null;
  mode: IRecord['mode'] | null;
  /** True to list only records with notes. */
  noted: boolean;
  /** A kind of what cells spent their time on; null for all. */
  cause: string | null;
  /** Text to find in the cell's title. */
  text: string;
}

export const ALL_RECORDS: IRecordFilter = {
  sort: 'newest',
  group: 'none',
  outcomes: new Set(),
  device: null,
  mode: null,
  noted: false,
  cause: null,
  text: ''
};

/** Return the number of settings in the folded controls that differ from the default. */
export function countFilters(filter: IRecordFilter): number {
  const { group, outcomes, device, mode, noted, cause } = filter;
  return [
    group !== 'none',
    outcomes.size > 0,
    device !== null,
    mode !== null,
    noted,
    cause !== null
  ].filter(Boolean).length;
}

/** Return a text that differs whenever the list has other records or another order. */
export function orderOf(filter: IRecordFilter): string {
  return JSON.stringify({ ...filter, outcomes: [...filter.outcomes] });
}

export interface ISelected {
  /** In the requested order. */
  entries: readonly IEntry[];
  /** Number of records by outcome, before the filter by outcome. */
  counts: Record<Outcome, number>;
  /** Largest value of the sorted figure, which fills a bar; of wall time if sorted by age. */
  scale: number;
  /** Number of records without the sorted figure, which come last. */
  unmeasured: number;
}

/** Filter and sort `entries`, which are ordered from oldest to newest. */
export function select(entries: readonly IEntry[], filter: IRecordFilter): ISelected {
  const counts = { ok: 0, error: 0, interrupted: 0 };
  const words = filter.text.trim().toLowerCase();
  let scale = 0;
  const left = entries.filter(({ record }) => {
    const known = figures(record);
    if (!matches(record, known, filter, words)) {
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

/** Return the devices that records name, then NOWHERE and NOT_KNOWN if any record has them. */
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

/** Return the causes of records, each with a record that has it. */
export function causesOf(entries: readonly IEntry[]): ReadonlyMap<string, IRecord> {
  const found = new Map<string, IRecord>();
  for (const { record } of entries) {
    const { cause } = figures(record);
    if (cause !== '' && !found.has(cause)) {
      found.set(cause, record);
    }
  }
  return found;
}

/** A row of the list: a record, or the heading of a group. */
export type ICellRow =
  { key: string; entry: IEntry; heading: null } | { key: string; entry: null; heading: IHeading };

export interface IHeading {
  group: Exclude<Grouping, 'none'> | 'repeat';
  /** A member, for what all members have in common. */
  example: IEntry;
  /** Start time of the first member. */
  since: string;
  count: number;
  members: readonly IEntry[];
  open: boolean;
}

/**
 * Return the rows of a list. Groups follow the order of their first record; closed groups have a heading
 * only. The runs of a repeated cell always form a group.
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

/** Return what the runs of a repeated cell have in common; empty for other records. */
function repeatOf({ runId, cell, repeat }: IRecord): string {
  return repeat === null ? '' : JSON.stringify([runId, cell.executionCount, cell.id, cell.digest]);
}

/** The runs of one cell that count as timings. */
export interface ITrend {
  /** The newest runs, oldest first, with wall time in seconds; null if it was not measured. */
  runs: { wall: number | null; outcome: Outcome }[];
  /** Number of all runs. */
  count: number;
}

/** The runs of each cell by `cellOf`, oldest first, without profiled, checked and warm-up runs. */
export type Runs = ReadonlyMap<string, readonly IEntry[]>;

export function runsByCell(entries: readonly IEntry[]): Runs {
  return grouped(entries.filter(isTiming), ({ record }) => cellOf(record));
}

/** Return the trend of the record's cell; null for fewer than two runs. */
export function trendOf(record: IRecord, runs: Runs): ITrend | null {
  return trendOfRuns(runs.get(cellOf(record)) ?? []);
}

/** Return the trend of a repeated cell's timed runs, in any order; null for fewer than two. */
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

/** Return the figure that a list in this order shows; null if it was not measured. */
export function figureOf(record: IRecord, sort: Sort): number | null {
  return figures(record)[sort === 'newest' || sort === 'oldest' ? 'wall' : sort];
}

/**
 * Return a key that all runs of a cell share: its code, the kernel's process and the requested device, as in
 * `%mlc_trace compare`.
 */
export function cellOf(record: IRecord): string {
  return figures(record).cell;
}

function matches(record: IRecord, own: IFigures, filter: IRecordFilter, words: string): boolean {
  const { device, mode, noted, cause } = filter;
  return (
    (cause === null || own.cause === cause) &&
    (device === null || own.devices.includes(device)) &&
    (mode === null || record.mode === mode) &&
    (!noted || own.noted) &&
    own.name.includes(words)
  );
}

/** Return the entries by a figure, the largest first, and the number of those without it, which come last. */
function sorted(sort: Sort, entries: readonly IEntry[]): [readonly IEntry[], number] {
  if (sort === 'newest' || sort === 'oldest') {
    return [entries, 0];
  }
  // Computed once for each entry, and not in each comparison.
  const valued = entries.map(entry => ({ entry, value: figureOf(entry.record, sort) ?? -1 }));
  valued.sort((a, b) => b.value - a.value);
  return [valued.map(({ entry }) => entry), valued.filter(({ value }) => value < 0).length];
}

function isTiming({ record }: IEntry): boolean {
  return record.mode === 'light' && !isWarmUp(record);
}

function recordRow(entry: IEntry): ICellRow {
  return { key: entry.key, entry, heading: null };
}

/** Return the earliest start time. */
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
