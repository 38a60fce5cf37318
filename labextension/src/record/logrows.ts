/** The log lines of a notebook in their order, and the filter over them. */

import { explain, type Messages } from '../language/explain';
import { VERDICTS, type ILogLine, type Verdict } from './logs';
import type { ICell, IRecord } from './record';
import { firstWhere } from './sorting';
import { hasOwnRecords, keyOf, shownEntries, type IEntry, type IState } from '../kernel/state';

/** The cell that lines belong to, or none. */
export interface ILogPlace {
  /** null if the lines belong to no cell. */
  cell: ICell | null;
  /** Id of the cell to go to; null if the notebook has none. */
  cellId: string | null;
  /** Key of the cell's record, also while it runs; NO_CELL for lines of no cell. */
  group: string;
  /** True while the cell runs. */
  live: boolean;
}

/** A line with its cell. */
export interface ILogRow extends ILogPlace {
  key: string;
  line: ILogLine;
}

/** The lines of a record, of a running cell, or of no cell. */
export class LogSection {
  constructor(
    readonly place: ILogPlace,
    private readonly lines: readonly ILogLine[],
    /** Number of lines before them that were dropped. */
    private readonly earlier = 0
  ) {}

  get length(): number {
    return this.lines.length;
  }

  /** Make a row on demand: of 100,000 lines only few are drawn. */
  row(index: number): ILogRow | undefined {
    const line = this.lines[index];
    return line && { key: this.key(index), line, ...this.place };
  }

  key(index: number): string {
    return `${this.place.group}#${this.earlier + index}`;
  }

  /** Return true if `filtered` has the result already. */
  hasResult(filter: ILogFilter, messages: Messages | null): boolean {
    return this.last?.filter === filter && this.last.messages === messages;
  }

  /** Return the lines that a filter leaves. The last result is kept, because lines are immutable. */
  filtered(filter: ILogFilter, messages: Messages | null): ILeft {
    if (this.last?.filter !== filter || this.last.messages !== messages) {
      const selected = filter.group === null || filter.group === this.place.group;
      const left = selected ? linesLeft(this.lines, filter, messages) : NO_LINES;
      this.last = { filter, messages, left };
    }
    return this.last.left;
  }

  private last: { filter: ILogFilter; messages: Messages | null; left: ILeft } | undefined;
}

export interface ILogFilter {
  /** Verdicts to list; empty for all. */
  verdicts: ReadonlySet<Verdict>;
  /** The `group` to list; null for all. */
  group: string | null;
  text: string;
  raw: boolean;
}

export const NO_CELL = 'none';
export const ALL_LINES: ILogFilter = { verdicts: new Set(), group: null, text: '', raw: false };

/** Return the sections, oldest first: lines of no cell, of each record, and of running cells. */
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

/** Return the newest `limit` cells that have lines, and `chosen` in any case. */
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

/** The lines of one section that a filter leaves. */
interface ILeft {
  /** Indices of the lines; null for all lines. */
  places: readonly number[] | null;
  /** Number of lines by verdict, before the filter by verdict. */
  counts: readonly ITally[];
}

interface ITally {
  verdict: Verdict;
  lines: number;
}

const NO_LINES: ILeft = { places: [], counts: [] };

/** The lines of all sections that a filter leaves. */
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

  /**
   * For each section with rows, the number of rows before it, and the section. Parallel arrays, because
   * 10,000 objects would be slow.
   */
  private readonly starts: number[] = [];
  private readonly sections: LogSection[] = [];
  private readonly left: ILeft[] = [];
}

/**
 * Filter all sections; null if that takes longer than until `end` on the clock of `performance.now`. The next
 * call continues there.
 */
export function filterSections(
  sections: readonly LogSection[],
  filter: ILogFilter,
  messages: Messages | null,
  end = Infinity
): LogRows | null {
  const rows = new LogRows();
  let started = false;
  for (const section of sections) {
    if (!section.hasResult(filter, messages)) {
      if (started && performance.now() > end) {
        return null;
      }
      started = true;
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
    if (matches(line, finds, messages)) {
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

/** Return the number of lines that were cut from the receipts of a saved notebook. */
export function linesLeftOut(entries: readonly IEntry[]): number {
  return entries.reduce((sum, { record }) => sum + cutLines(record), 0);
}

function cutLines(record: IRecord): number {
  return record.cut.reduce(
    (sum, [part, count]) => (part.startsWith('logs') ? sum + count : sum),
    0
  );
}

/** Return the text search of a filter, made once for all sections. */
function finderOf(filter: ILogFilter): Finds | null {
  let finds = finders.get(filter);
  if (finds === undefined) {
    finds = finder(filter.text);
    finders.set(filter, finds);
  }
  return finds;
}

const finders = new WeakMap<ILogFilter, Finds | null>();

function matches(line: ILogLine, finds: Finds | null, messages: Messages | null): boolean {
  if (finds === null || finds(line.text)) {
    return true;
  }
  if (line.id === null && line.meaning === null && line.advice === null) {
    return false;
  }
  const { meaning, advice } = explain(line, messages);
  return finds(`${meaning ?? ''}\n${advice ?? ''}\n${line.id ?? ''}`);
}

/** Return the section of a record, made once because records are immutable. */
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
 * Return a case-insensitive search for words; null for no words.
 *
 * It makes no lower-case copies: collecting those of 100,000 lines would block the page.
 */
function finder(words: string): Finds | null {
  const literally = words.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  if (literally === '') {
    return null;
  }
  const pattern = new RegExp(literally, 'i');
  return text => pattern.test(text);
}
