/**
 * Looks at memory while a cell ran, from the live counters: their shape, and the curve of one series.
 *
 * The Python side of the same contract is jupyter_mlgpu/jupyter/notebook/record_pages.py.
 */

import { readLine } from '../kernel/counters';
import type { ISeries } from '../kernel/counters';
import { FEW, amount, list, object } from '../language/untrusted';

const LOOKS = 2_000;

export interface ILooks {
  /** Seconds between two looks. */
  interval: number;
  series: ISeries[];
  looks: ILook[];
}

export interface ILook {
  /** Seconds from the start of the cell. */
  at: number;
  /** In the order of the series; null: not told at that moment. */
  values: (number | null)[];
}

/** Read looks; null where there are none to draw. */
export function readLooks(data: unknown): ILooks | null {
  const table = object(data);
  const interval = amount(table?.interval);
  const series = list(table?.series, FEW, readLine);
  const looks = list(table?.looks, LOOKS, item => readLook(item, series.length));
  return interval === null || series.length === 0 || looks.length === 0
    ? null
    : { interval, series, looks };
}

function readLook(data: unknown, series: number): ILook | null {
  const [time, told] = Array.isArray(data) ? (data as unknown[]) : [];
  const at = amount(time);
  if (at === null || !Array.isArray(told)) {
    return null;
  }
  return { at, values: Array.from({ length: series }, (_, index) => amount(told[index])) };
}

/** The least and the most that was seen of a series; null where nothing was. */
export function span({ looks }: ILooks, series: number): [least: number, most: number] | null {
  const seen = looks.map(({ values }) => values[series] ?? null).filter(value => value !== null);
  return seen.length === 0 ? null : [Math.min(...seen), Math.max(...seen)];
}

/**
 * The points of a series as `x,y` for SVG polylines, in a box of `width` and `height` whose left side is the
 * cell's start, whose right side is `end` seconds, and whose lower side is 0. A look that told nothing parts
 * two lines; nothing is drawn where nothing was seen.
 */
export function lines(
  { looks }: ILooks,
  series: number,
  end: number,
  top: number,
  [width, height]: [number, number]
): string[] {
  const found: string[][] = [[]];
  for (const { at, values } of looks) {
    const value = values[series] ?? null;
    if (value === null) {
      found.push([]);
    } else {
      const x = end > 0 ? (Math.min(at, end) / end) * width : 0;
      const y = height - (top > 0 ? Math.min(value / top, 1) : 0) * height;
      found.at(-1)?.push(`${x.toFixed(2)},${y.toFixed(2)}`);
    }
  }
  return found.filter(points => points.length > 0).map(points => points.join(' '));
}
