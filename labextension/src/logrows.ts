/**
 * All log lines of a notebook in the order in which they came, and which of them a filter leaves.
 */

import { explain } from './explain';
import type { Messages } from './explain';
import { VERDICTS } from './logs';
import type { ILogLine, Verdict } from './logs';
import type { ICell, IRecord } from './record';
import { hasOwnRecords, keyOf, shownEntries } from './state';
import type { IEntry, IState } from './state';

/** A line with its place: in a cell, or in none. */
export interface ILogRow {
  key: string;
  line: ILogLine;
  /** null: the line belongs to no cell. */
  cell: ICell | null;
  /** The cell to go to; null where the notebook has none. */
  cellId: string | null;
  /** The key of the cell's record, which it will have when it still runs; NO_CELL for lines of none. */
  group: string;
  /** Its cell still runs. */
  live: boolean;
}

export interface ILogFilter {
  /** The verdicts to show; empty for all of them. */
  verdicts: ReadonlySet<Verdict>;
  /** The `group` to show; null for all of them. */
  group: string | null;
  text: string;
  raw: boolean;
}

export const NO_CELL = 'none';
export const ALL_LINES: ILogFilter = { verdicts: new Set(), group: null, text: '', raw: false };

/** Oldest first: lines of no cell, those of each record, and those of the cell that runs. */
export function logRows(state: IState): ILogRow[] {
  const own = hasOwnRecords(state);
  return [
    ...(own ? state.logs : []).map((line, index) =>
      row(line, index, { cell: null, cellId: null, group: NO_CELL, live: false })
    ),
    ...shownEntries(state).flatMap(rowsOf),
    ...state.running.flatMap(({ cell, logs, earlierLogs }) => {
      const place = { cell, cellId: cell.id, group: keyOf(state.run ?? '', cell), live: true };
      return logs.map((line, index) => row(line, earlierLogs + index, place));
    })
  ];
}

export interface ILogGroup {
  group: string;
  cell: ICell | null;
}

/** The cells that have lines, newest first, at most `limit`; `chosen` in any case. */
export function groups(
  rows: readonly ILogRow[],
  limit: number,
  chosen: string | null = null
): ILogGroup[] {
  const found = new Map<string, ILogGroup>();
  for (let index = rows.length - 1; index >= 0 && found.size < limit; index--) {
    const place = rows[index];
    if (place) {
      found.set(place.group, place);
    }
  }
  const other = chosen === null || found.has(chosen) ? undefined : rows.find(isOf(chosen));
  return other ? [...found.values(), other] : [...found.values()];
}

function isOf(group: string): (row: ILogRow) => boolean {
  return row => row.group === group;
}

export interface IFiltered {
  rows: readonly ILogRow[];
  /** How many lines each verdict has, with the other filters as they are. */
  counts: Record<Verdict, number>;
}

export function filterRows(
  rows: readonly ILogRow[],
  filter: ILogFilter,
  messages: Messages | null
): IFiltered {
  const counts = Object.fromEntries(VERDICTS.map(verdict => [verdict, 0])) as IFiltered['counts'];
  const words = filter.text.trim().toLowerCase();
  const left = rows.filter(one => {
    const { verdict } = one.line;
    if ((filter.group !== null && one.group !== filter.group) || !says(one.line, words, messages)) {
      return false;
    }
    counts[verdict] += 1;
    return filter.verdicts.size === 0 || filter.verdicts.has(verdict);
  });
  return { rows: left, counts };
}

/** Lines that were cut from the receipts of a saved notebook. */
export function linesLeftOut(entries: readonly IEntry[]): number {
  return entries.reduce((sum, { record }) => sum + cutLines(record), 0);
}

function cutLines(record: IRecord): number {
  return record.cut.reduce(
    (sum, [part, count]) => (part.startsWith('logs') ? sum + count : sum),
    0
  );
}

function says(line: ILogLine, words: string, messages: Messages | null): boolean {
  if (words === '' || line.text.toLowerCase().includes(words)) {
    return true;
  }
  const { meaning, advice } = explain(line, messages);
  return `${meaning ?? ''}\n${advice ?? ''}\n${line.id ?? ''}`.toLowerCase().includes(words);
}

/** Rows of a record are made once: it is never changed, only replaced. */
function rowsOf(entry: IEntry): readonly ILogRow[] {
  let rows = made.get(entry);
  if (rows === undefined) {
    const { record, cellId } = entry;
    const place = { cell: record.cell, cellId, group: entry.key, live: false };
    rows = record.logs.map((line, index) => row(line, index, place));
    made.set(entry, rows);
  }
  return rows;
}

function row(line: ILogLine, index: number, place: Omit<ILogRow, 'key' | 'line'>): ILogRow {
  return { key: `${place.group}#${index}`, line, ...place };
}

const made = new WeakMap<IEntry, readonly ILogRow[]>();
