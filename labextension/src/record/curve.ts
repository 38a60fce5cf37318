/** Curves of values over time, for SVG. */

/** A time in seconds and a value; a null value interrupts the curve. */
export type CurvePoint = readonly [at: number, value: number | null];

/** Times at the left and right edge of a chart, and the value at its upper edge; the lower edge is 0. */
export interface ISides {
  from: number;
  to: number;
  top: number;
}

/** Return the parts of a curve as `x,y` points of SVG polylines in a box of `width` and `height`. */
export function lines(
  points: readonly CurvePoint[],
  { from, to, top }: ISides,
  [width, height]: readonly [number, number]
): string[] {
  const found: string[][] = [[]];
  for (const [at, value] of points) {
    if (value === null) {
      found.push([]);
    } else {
      const x = to > from ? ((Math.min(at, to) - from) / (to - from)) * width : 0;
      const y = height - (top > 0 ? Math.min(value / top, 1) : 0) * height;
      found.at(-1)?.push(`${x.toFixed(2)},${y.toFixed(2)}`);
    }
  }
  return found.filter(part => part.length > 0).map(part => part.join(' '));
}
