/** Scales and ticks of a chart. Pure functions. */

import type { IAxis } from './pagetypes';
import type { Sentence } from '../language/sentence';

/** Maps a number to pixels. */
export type Scale = (value: number) => number;

export interface ITick {
  at: number;
  label: string;
}

/** The edges of a chart's axes, in pixels. */
export interface IRoom {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Return the scale of an axis from `start` to `end`. */
export function scaleOf({ low, high, log }: IAxis, start: number, end: number): Scale {
  const measure = log ? Math.log10 : Number;
  const [first, last] = [measure(low), measure(high)];
  return value => start + ((end - start) * (measure(value) - first)) / (last - first);
}

/** Return the ticks whose labels fit beside each other; `length` returns a label's pixels along the axis. */
export function ticksOf(
  axis: IAxis,
  scale: Scale,
  words: (label: Sentence) => string,
  length: (label: string) => number
): ITick[] {
  const all = axis.ticks
    .map(([value, label]) => ({ at: scale(value), label: words(label) }))
    .filter(({ at }) => Number.isFinite(at))
    .sort((one, other) => one.at - other.at);
  let free = -Infinity;
  return all.filter(({ at, label }) => {
    const half = length(label) / 2;
    const fits = at - half >= free;
    free = fits ? at + half : free;
    return fits;
  });
}
