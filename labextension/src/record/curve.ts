/** Curves of values over time, for SVG. */

/** A value at a moment, in seconds; null, where none is known, parts the curve. */
export type CurvePoint = readonly [at: number, value: number | null];

/** The moments at the left and right side of a curve's box, and the value at its upper side; below is 0. */
export interface ISides {
  from: number;
  to: number;
  top: number;
}

/** The parts of a curve, each as `x,y` for an SVG polyline in a box of `width` and `height`. */
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
