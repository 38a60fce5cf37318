/**
 * All log lines of a notebook in the order in which they came, and which of them a filter leaves.
 */

import { explain, type Messages } from '../language/explain';
import { VERDICTS, type ILogLine, type Verdict } from './logs';
import type { ICell, IRecord } from './record';
import { firstWhere } from './sorting';
import { hasOwnRecords, keyOf, shownEntries, type IEntry, type IState } from '../kernel/state';

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

  /** Made for those that are drawn: of 100,000 lines they are few. */
  row(index: number): ILogRow | undefined {
    const line = this.lines[index];
    return line && { key: this.key(index), line, ...this.place };
  }

  key(index: number): string {
    return `${this.place.group}#${this.earlier + index}`;
  }

  /** The filter was put to it before. */
  knows(filter: ILogFilter, messages: Messages | null): boolean {
    return this.last?.filter === filter && this.last.messages === messages;
  }

  /** What a filter leaves. The last answer is kept: lines are never changed. */
  filtered(filter: ILogFilter, messages: Messages | null): ILeft {
    if (this.last?.filter !== filter || this.last.messages !== messages) {
      const suits = filter.group === null || filter.group === this.place.group;
      const left = suits ? linesLeft(this.lines, filter, messages) : NO_LINES;
      this.last = { filter, messages, left };
    }
    return this.last.left;
  }

  private last: { filter: ILogFilter; messages: Messages | null; left: ILeft } | undefined;
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

/** What a filter leaves of the lines of one section. */
interface ILeft {
  /** Their places; null: all of them. */
  places: readonly number[] | null;
  /** How many lines each verdict has that any has, with the other filters as they are. */
  counts: readonly ITally[];
}

interface ITally {
  verdict: Verdict;
  lines: number;
}

const NO_LINES: ILeft = { places: [], counts: [] };

/** What a filter leaves of all sections. */
export class LogRows {
  readonly counts = noLines();

  length = 0;

  add(section: LogSection, left: ILeft): void {
    const length = left.places?.length ?? section.length;
    for (const { verdict, lines } of left.counts) {
      this.counts[verdict] += lines;
    }
    if (length > 0) {
      this.starts.push(this.length);
      this.sections.push(section);
      this.left.push(left);
      this.length += length;
    }
  }

  at(index: number): ILogRow | undefined {
    const found = this.find(index);
    return found?.section.row(found.place);
  }

  keyAt(index: number): string | undefined {
    const found = this.find(index);
    return found?.section.key(found.place);
  }

  private find(index: number): { section: LogSection; place: number } | undefined {
    if (index < 0 || index >= this.length) {
      return undefined;
    }
    const low = firstWhere(1, this.starts.length, at => (this.starts[at] ?? 0) > index) - 1;
    const section = this.sections[low];
    const inside = index - (this.starts[low] ?? 0);
    return section && { section, place: this.left[low]?.places?.[inside] ?? inside };
  }

  /** Of each section with rows, how many stand before it, and which. Side by side: objects would be 10,000 more. */
  private readonly starts: number[] = [];
  private readonly sections: LogSection[] = [];
  private readonly left: ILeft[] = [];
}

/**
 * What a filter leaves; null where that is not known by the time `end` of `performance.now`. Called again,
 * it goes on where it was.
 */
export function filterSections(
  sections: readonly LogSection[],
  filter: ILogFilter,
  messages: Messages | null,
  end = Infinity
): LogRows | null {
  const rows = new LogRows();
  let looked = false;
  for (const section of sections) {
    if (!section.knows(filter, messages)) {
      if (looked && performance.now() > end) {
        return null;
      }
      looked = true;
    }
    rows.add(section, section.filtered(filter, messages));
  }
  return rows;
}

function linesLeft(
  lines: readonly ILogLine[],
  filter: ILogFilter,
  messages: Messages | null
): ILeft {
  const counts: ITally[] = [];
  const finds = finderOf(filter);
  const places: number[] = [];
  lines.forEach((line, index) => {
    if (says(line, finds, messages)) {
      tally(counts, line.verdict);
      if (filter.verdicts.size === 0 || filter.verdicts.has(line.verdict)) {
        places.push(index);
      }
    }
  });
  return { places: places.length === lines.length ? null : places, counts };
}

function tally(counts: ITally[], verdict: Verdict): void {
  const known = counts.find(one => one.verdict === verdict);
  if (known) {
    known.lines += 1;
  } else {
    counts.push({ verdict, lines: 1 });
  }
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

/** Made once for all sections that a filter is put to. */
function finderOf(filter: ILogFilter): Finds | null {
  let finds = finders.get(filter);
  if (finds === undefined) {
    finds = finder(filter.text);
    finders.set(filter, finds);
  }
  return finds;
}

const finders = new WeakMap<ILogFilter, Finds | null>();

function says(line: ILogLine, finds: Finds | null, messages: Messages | null): boolean {
  if (finds === null || finds(line.text)) {
    return true;
  }
  if (line.id === null && line.meaning === null && line.advice === null) {
    return false;
  }
  const { meaning, advice } = explain(line, messages);
  return finds(`${meaning ?? ''}\n${advice ?? ''}\n${line.id ?? ''}`);
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

type Finds = (text: string) => boolean;

/**
 * Finds words in texts, whatever their capitals; null for no words.
 *
 * It makes no copies of texts in small letters: those of 100,000 lines stop the page when they are collected.
 */
function finder(words: string): Finds | null {
  const literally = words.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  if (literally === '') {
    return null;
  }
  const pattern = new RegExp(literally, 'i');
  return text => pattern.test(text);
}
