/**
 * What a race, a plan, a benchmark or a collection of engines tells, as a notebook keeps it: the only way in.
 *
 * Its types are those of the kernel (jupyter_mlgpu/show/page/view.py); a drawing to move in is read with its page.
 */

import { readGraph } from './graph';
import type { IGraph } from './graph';
import type * as wire from './pagetypes';
import type { IChart, ISeries, ITable } from './pagetypes';
import { sentence } from '../language/sentence';
import type { Sentence } from '../language/sentence';
import { readTimeline } from '../record/timeline';
import type { ITimeline } from '../record/timeline';
import {
  FEW,
  count,
  finite,
  flag,
  list,
  listOf,
  object,
  oneOf,
  or,
  shape,
  versioned
} from '../language/untrusted';
import type { Reader, Unreadable } from '../language/untrusted';

export const PAGE_TYPE = 'application/vnd.jupyter-mlgpu.page+json';

const SCHEMA = 1;

/** Rows of a table, points of a line, bars and parts that are read; charts, and lines of one. */
const MANY = 400;
const CHARTS = 8;
const LINES = 32;
/** Characters of a cell. */
const CELL = 200;

/** Lanes of a timeline with their names. */
export interface ILanes {
  timeline: ITimeline;
  names: Sentence[];
}

export type IPart = Sentence | ITable | IGraph | ILanes;

export type IPage = Omit<wire.IPage, 'parts'> & { parts: IPart[] };

const said = or('', sentence);

const readTable: Reader<ITable> = shape(
  { columns: required(sentence), rows: required(listOrNull) },
  { figures: listOf(count), caption: said, below: said, summary: said }
);

const readAxis: Reader<wire.IAxis> = shape(
  { low: finite, high: finite },
  { title: said, log: flag, ticks: listOf(readTick) }
);

const readSeries: Reader<ISeries> = shape(
  { mark: oneOf('line', 'points', 'roof', 'bar') },
  { name: said, colour: or(0, count), dashed: flag, points: listOf(readPoint, MANY) }
);

const readRule: Reader<wire.IRule> = shape(
  { at: finite },
  { low: finite, high: finite, label: said }
);

const readChart: Reader<IChart> = shape(
  { x: readAxis, y: readAxis, series: required(readSeries, LINES) },
  {
    title: listOf(sentence),
    bars: listOf(readBar, MANY),
    rules: listOf(readRule),
    words: said,
    notes: listOf(sentence),
    lies: flag
  }
);

const readKnown = shape(
  { kind: oneOf('page', 'plan', 'race', 'bench', 'engines'), parts: required(readPart) },
  {
    title: said,
    headline: said,
    charts: listOf(readChart, CHARTS),
    details: listOf(readTable),
    notes: listOf(sentence)
  }
);

/** Read a page, or say why it cannot be read. */
export function readPage(data: unknown): IPage | Unreadable {
  const table = versioned(data, SCHEMA);
  if (typeof table === 'string') {
    return table;
  }
  const known = readKnown(table);
  return known === null ? 'invalid' : { ...known, schema: SCHEMA };
}

/** A list that has to be there. */
function required<T>(read: Reader<T>, limit = MANY): Reader<T[]> {
  return value => (Array.isArray(value) ? list(value, limit, read) : null);
}

function listOrNull(row: unknown): Sentence[] | null {
  // What cannot be read is an empty cell: the others keep their columns.
  return Array.isArray(row) ? row.slice(0, FEW).map(cell => sentence(cell, CELL) ?? '') : null;
}

function readPart(data: unknown): IPart | null {
  const table = object(data);
  if (table === null || 'template' in table) {
    return sentence(data);
  }
  if (table.kind === 'graph') {
    return readGraph(table.data);
  }
  return table.kind === 'timeline' ? readLanes(table.data) : readTable(table);
}

function readLanes(data: unknown): ILanes | null {
  const table = object(data);
  const timeline = readTimeline(table?.timeline);
  return timeline && { timeline, names: list(table?.names, timeline.lanes.length, said) };
}

function readTick(data: unknown): [number, Sentence] | null {
  const [at, label] = items(data);
  const known = finite(at);
  return known === null ? null : [known, said(label)];
}

function readPoint(data: unknown): ISeries['points'][number] | null {
  const [x, y, low, high, label] = items(data);
  const [across, up] = [finite(x), finite(y)];
  return across === null || up === null
    ? null
    : [across, up, finite(low), finite(high), said(label)];
}

function readBar(data: unknown): IChart['bars'][number] | null {
  const [series, ...places] = items(data);
  const [number, [place, thick, start, end]] = [count(series), places.map(finite)];
  return number === null || place == null || thick == null || start == null || end == null
    ? null
    : [number, place, thick, start, end];
}

function items(data: unknown): unknown[] {
  return Array.isArray(data) ? data : [];
}
