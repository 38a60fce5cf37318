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

/** Where lines belong: in a cell, or in none. */
export interface ILogPlace {
  /** null: the lines belong to no cell. */
  cell: ICell | null;
  /** The cell to go to; null where the notebook has none. */
  cellId: string | null;
  /** The key of the cell's record, which it will have when it still runs; NO_CELL for lines of none. */
  group: string;
  /** Its cell still runs. */
  live: boolean;
}

/** A line with its place. */
export interface ILogRow extends ILogPlace {
  key: string;
  line: ILogLine;
}

/** Lines that came together: of a record, of a cell that runs, or of none. */
export class LogSection {
  constructor(
    readonly place: ILogPlace,
    private readonly lines: readonly ILogLine[],
    /** How many came before them. */
    private readonly earlier = 0
  ) {}

  get length(): number {
    return this.lines.length;
  }

  /** The filter was put to it before. */
  knows(filter: ILogFilter, messages: Messages | null): boolean {
    return this.last?.filter === filter && this.last.messages === messages;
  }

  /** What a filter leaves. The last answer is kept: lines are never changed. */
  filtered(filter: ILogFilter, messages: Messages | null): IFiltered {
    if (this.last?.filter !== filter || this.last.messages !== messages) {
      this.last = { filter, messages, left: filterRows(this.rows, filter, messages) };
    }
    return this.last.left;
  }

  /** Made when they are first wanted: 100,000 of them take their time. */
  get rows(): readonly ILogRow[] {
    this.made ??= this.lines.map((line, index) => ({
      key: `${this.place.group}#${this.earlier + index}`,
      line,
      ...this.place
    }));
    return this.made;
  }

  private made: readonly ILogRow[] | undefined;
  private last: { filter: ILogFilter; messages: Messages | null; left: IFiltered } | undefined;
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
export function logSections(state: IState): LogSection[] {
  const ofNone = { cell: null, cellId: null, group: NO_CELL, live: false };
  return [
    new LogSection(ofNone, hasOwnRecords(state) ? state.logs : []),
    ...shownEntries(state).map(sectionOf),
    ...state.running.map(({ cell, logs, earlierLogs }) => {
      const place = { cell, cellId: cell.id, group: keyOf(state.run ?? '', cell), live: true };
      return new LogSection(place, logs, earlierLogs);
    })
  ].filter(({ length }) => length > 0);
}

export interface ILogGroup {
  group: string;
  cell: ICell | null;
}

/** The cells that have lines, newest first, at most `limit`; `chosen` in any case. */
export function groups(
  sections: readonly LogSection[],
  limit: number,
  chosen: string | null = null
): ILogGroup[] {
  const found = new Map<string, ILogGroup>();
  for (let index = sections.length - 1; index >= 0 && found.size < limit; index--) {
    const place = sections[index]?.place;
    if (place) {
      found.set(place.group, place);
    }
  }
  const other =
    chosen === null || found.has(chosen)
      ? undefined
      : sections.find(({ place }) => place.group === chosen);
  return other ? [...found.values(), other.place] : [...found.values()];
}

export interface IFiltered {
  rows: readonly ILogRow[];
  /** How many lines each verdict has, with the other filters as they are. */
  counts: Record<Verdict, number>;
}

export const NO_LINES: IFiltered = { rows: [], counts: noLines() };

/**
 * What a filter leaves; null where that is not known by the time `end` of `performance.now`. Called again,
 * it goes on where it was.
 */
export function filterSections(
  sections: readonly LogSection[],
  filter: ILogFilter,
  messages: Messages | null,
  end = Infinity
): IFiltered | null {
  const parts: IFiltered[] = [];
  let looked = false;
  for (const section of sections) {
    if (!section.knows(filter, messages)) {
      if (looked && performance.now() > end) {
        return null;
      }
      looked = true;
    }
    parts.push(section.filtered(filter, messages));
  }
  const counts = noLines();
  const rows: ILogRow[] = [];
  for (const part of parts) {
    rows.push(...part.rows);
    for (const verdict of VERDICTS) {
      counts[verdict] += part.counts[verdict];
    }
  }
  return { rows, counts };
}

export function filterRows(
  rows: readonly ILogRow[],
  filter: ILogFilter,
  messages: Messages | null
): IFiltered {
  const counts = noLines();
  const words = filter.text.trim().toLowerCase();
  const found = rows.filter(one => {
    const { verdict } = one.line;
    if ((filter.group !== null && one.group !== filter.group) || !says(one.line, words, messages)) {
      return false;
    }
    counts[verdict] += 1;
    return filter.verdicts.size === 0 || filter.verdicts.has(verdict);
  });
  return { rows: found.length === rows.length ? rows : found, counts };
}

function noLines(): Record<Verdict, number> {
  return Object.fromEntries(VERDICTS.map(verdict => [verdict, 0])) as Record<Verdict, number>;
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
  if (line.id === null && line.meaning === null && line.advice === null) {
    return false;
  }
  const { meaning, advice } = explain(line, messages);
  return `${meaning ?? ''}\n${advice ?? ''}\n${line.id ?? ''}`.toLowerCase().includes(words);
}

/** Of a record there is one section: it is never changed, only replaced. */
function sectionOf(entry: IEntry): LogSection {
  let section = sections.get(entry);
  if (section === undefined) {
    const { record, cellId } = entry;
    const place = { cell: record.cell, cellId, group: entry.key, live: false };
    section = new LogSection(place, record.logs);
    sections.set(entry, section);
  }
  return section;
}

const sections = new WeakMap<IEntry, LogSection>();
