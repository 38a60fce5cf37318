/** Looks at memory while a cell ran, from the live counters: the curve of one series. */

import { readMemorySamples as readKnown } from './recordpagetypes';
import type { IMemorySample, IMemorySamples } from './recordpagetypes';

export type { IMemorySamples } from './recordpagetypes';

/** Looks with a value for each series; null where there are none to draw. */
export function readMemorySamples(data: unknown): IMemorySamples | null {
  const told = readKnown(data);
  if (told === null || told.series.length === 0 || told.samples.length === 0) {
    return null;
  }
  const whole = ({ at, values }: IMemorySample): IMemorySample => {
    return { at, values: told.series.map((_, index) => values[index] ?? null) };
  };
  return { ...told, samples: told.samples.map(whole) };
}

/** The least and the most that was seen of a series; null where nothing was. */
export function span(
  { samples }: IMemorySamples,
  series: number
): [least: number, most: number] | null {
  const seen = samples.map(({ values }) => values[series] ?? null).filter(value => value !== null);
  return seen.length === 0 ? null : [Math.min(...seen), Math.max(...seen)];
}

/**
 * The points of a series as `x,y` for SVG polylines, in a box of `width` and `height` whose left side is the
 * cell's start, whose right side is `end` seconds, and whose lower side is 0. A look that told nothing parts
 * two lines; nothing is drawn where nothing was seen.
 */
export function lines(
  { samples }: IMemorySamples,
  series: number,
  end: number,
  top: number,
  [width, height]: [number, number]
): string[] {
  const found: string[][] = [[]];
  for (const { at, values } of samples) {
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
