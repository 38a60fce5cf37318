/** From the numbers of a chart to places in its drawing. Pure functions. */

import type { IAxis } from './pagetypes';
import type { Sentence } from '../language/sentence';

/** From a number to a place in the drawing, in pixels. */
export type Scale = (value: number) => number;

export interface ITick {
  at: number;
  label: string;
}

/** Where the axes of a drawing end, in pixels. */
export interface IRoom {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** The axis drawn from `start` to `end`. */
export function scaleOf({ low, high, log }: IAxis, start: number, end: number): Scale {
  const measure = log ? Math.log10 : Number;
  const [first, last] = [measure(low), measure(high)];
  return value => start + ((end - start) * (measure(value) - first)) / (last - first);
}

/** The ticks that have room beside each other: `length` tells how many pixels a label takes along the axis. */
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
