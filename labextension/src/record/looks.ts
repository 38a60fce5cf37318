/** Looks at memory while a cell ran, from the live counters: the curve of one series. */

import type { CurvePoint } from './curve';
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

/** The curve of a series. */
export function points({ looks }: ILooks, series: number): CurvePoint[] {
  return looks.map(({ at, values }) => [at, values[series] ?? null]);
}
