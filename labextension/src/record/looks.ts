/** Looks at memory while a cell ran, from the live counters: the curve of one series. */

import { readLooks as readKnown } from './recordpagetypes';
import type { ILook, ILooks } from './recordpagetypes';

export type { ILooks } from './recordpagetypes';

/** Looks with a value for each series; null where there are none to draw. */
export function readLooks(data: unknown): ILooks | null {
  const told = readKnown(data);
  if (told === null || told.series.length === 0 || told.looks.length === 0) {
    return null;
  }
  const whole = ({ at, values }: ILook): ILook => {
    return { at, values: told.series.map((_, index) => values[index] ?? null) };
  };
  return { ...told, looks: told.looks.map(whole) };
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
