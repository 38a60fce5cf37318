/** Memory samples of a cell, from the live counters. */

import type { CurvePoint } from './curve';
import { readMemorySamples as readKnown } from './recordpagetypes';
import type { IMemorySample, IMemorySamples } from './recordpagetypes';

export type { IMemorySamples } from './recordpagetypes';

/** Read samples with a value for each series; null if there are none to draw. */
export function readMemorySamples(data: unknown): IMemorySamples | null {
  const memory = readKnown(data);
  if (memory === null || memory.series.length === 0 || memory.samples.length === 0) {
    return null;
  }
  const whole = ({ at, values }: IMemorySample): IMemorySample => {
    return { at, values: memory.series.map((_, index) => values[index] ?? null) };
  };
  return { ...memory, samples: memory.samples.map(whole) };
}

/** Return the lowest and the highest value of a series; null if it has none. */
export function span(
  { samples }: IMemorySamples,
  series: number
): [least: number, most: number] | null {
  const known = samples.map(({ values }) => values[series] ?? null).filter(value => value !== null);
  return known.length === 0 ? null : [Math.min(...known), Math.max(...known)];
}

/** Return the curve of a series. */
export function points({ samples }: IMemorySamples, series: number): CurvePoint[] {
  return samples.map(({ at, values }) => [at, values[series] ?? null]);
}
