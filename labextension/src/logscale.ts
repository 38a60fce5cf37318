/** Logarithmic axes: from values to places in a drawing, and the ticks beside them. Pure functions. */

/** From a value to a place in the drawing, in pixels. */
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

type Decades = readonly [first: number, last: number];

/** The powers of ten around values, at least two of them; null without values. */
export function decades(values: readonly number[]): Decades | null {
  if (values.length === 0) {
    return null;
  }
  const first = Math.floor(Math.log10(Math.min(...values)));
  return [first, Math.max(Math.ceil(Math.log10(Math.max(...values))), first + 1)];
}

export function logarithmic([first, last]: Decades, start: number, end: number): Scale {
  return value => start + ((end - start) * (Math.log10(value) - first)) / (last - first);
}

/** A tick a power of ten, or every second, third... where they would stand closer than `apart` pixels. */
export function ticks(
  [first, last]: Decades,
  length: number,
  apart: number,
  scale: Scale,
  label: (value: number) => string
): ITick[] {
  const step = Math.max(1, Math.ceil((apart * (last - first)) / Math.max(length, 1)));
  const found: ITick[] = [];
  for (let power = first; power <= last; power += step) {
    const value = Number(`1e${power}`);
    found.push({ at: scale(value), label: label(value) });
  }
  return found;
}

/** A power of ten as people write it: `0.01`, `1,000`, `1e7`. */
export function formatPower(value: number): string {
  return value >= 1e-3 && value < 1e6
    ? value.toLocaleString('en')
    : value.toExponential().replace('e+', 'e');
}
