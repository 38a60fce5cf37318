/**
 * What a benchmark measured, as `%mlc_bench` leaves it in a notebook: its shape, and the only way in.
 *
 * The Python side of the same contract is jupyter_mlgpu/bench/bundle.py.
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

export const BENCH_TYPE = 'application/vnd.jupyter-mlgpu.bench+json';

const SCHEMA = 1;

export interface IBench {
  /** The cases. */
  name: string;
  head: string;
  outcome: 'ok' | 'interrupted';
  titles: string[];
  /** As many texts in each as there are titles. */
  rows: string[][];
  charts: IBenchChart[];
  notes: string[];
  /** What is not here, and how many. */
  cut: ReadonlyMap<string, number>;
}

export interface IBenchChart {
  title: string;
  /** What the axes are; both are logarithmic. */
  x: string;
  y: string;
  series: ISeries[];
}

export interface ISeries {
  name: string;
  /** Joined by a line, not joined, or by a dashed one: what can be reached. */
  kind: 'line' | 'points' | 'roof';
  /** Equal numbers belong together. */
  colour: number;
  points: IBenchPoint[];
}

export interface IBenchPoint {
  x: number;
  y: number;
  spread: readonly [low: number, high: number] | null;
  label: string;
}

const ROWS = 400;
const POINTS = 400;
const NAME = 120;

/** Read a benchmark, or say why it cannot be read. */
export function readBench(data: unknown): IBench | Unreadable {
  const table = versioned(data, SCHEMA);
  if (typeof table === 'string') {
    return table;
  }
  const outcome = choice(table.outcome, ['ok', 'interrupted'] as const);
  if (outcome === null || !Array.isArray(table.rows) || !Array.isArray(table.charts)) {
    return 'invalid';
  }
  const titles = list(table.titles, FEW, item => printed(item, NAME));
  return {
    name: printed(table.name, NAME) ?? '',
    head: printed(table.head, LONG) ?? '',
    outcome,
    titles,
    rows: list(table.rows, ROWS, item => readRow(item, titles.length)),
    charts: list(table.charts, FEW, readChart),
    notes: list(table.notes, FEW, item => printed(item, LONG)),
    cut: new Map(pairs(table.cut, count))
  };
}

function readRow(data: unknown, length: number): string[] | null {
  return Array.isArray(data)
    ? Array.from({ length }, (_, index) => printed(data[index], NAME) ?? '')
    : null;
}

function readChart(data: unknown): IBenchChart | null {
  const table = object(data);
  return (
    table && {
      title: printed(table.title, NAME) ?? '',
      x: printed(table.x, NAME) ?? '',
      y: printed(table.y, NAME) ?? '',
      series: list(table.series, FEW, readSeries)
    }
  );
}

function readSeries(data: unknown): ISeries | null {
  const table = object(data);
  const kind = choice(table?.kind, ['line', 'points', 'roof'] as const);
  return kind === null
    ? null
    : {
        name: printed(table?.name, NAME) ?? '',
        kind,
        colour: count(table?.colour) ?? 0,
        points: list(table?.points, POINTS, readPoint)
      };
}

/** A point with a place on logarithmic axes. */
function readPoint(data: unknown): IBenchPoint | null {
  const items: unknown[] = Array.isArray(data) ? data : [];
  const [x, y, low, high] = items.slice(0, 4).map(amount);
  return !x || !y
    ? null
    : { x, y, spread: low && high ? [low, high] : null, label: printed(items[4], NAME) ?? '' };
}
