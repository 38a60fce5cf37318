/** Reads the paths of arrows in a graph, which are stored as text. */

import { FARTHEST } from './graphtypes';

/** A corner of an arrow's path from the right side of one area to the left side of another. */
export interface ICorner {
  x: number;
  y: number;
}

const CORNERS = 1_000;
/** Largest number of characters of a path. */
const LETTERS = 12 * CORNERS;

/** Read the corners of an arrow: `188 20 214 20`. */
export function readWay(data: unknown): ICorner[] | null {
  if (typeof data !== 'string' || data.length > LETTERS || !/^-?\d+( -?\d+){3,}$/.test(data)) {
    return null;
  }
  const numbers = data.split(' ').map(Number);
  const corners: ICorner[] = [];
  for (let at = 0; at + 1 < numbers.length && corners.length < CORNERS; at += 2) {
    const [x = 0, y = 0] = numbers.slice(at, at + 2);
    corners.push({ x, y });
  }
  return numbers.every(one => Math.abs(one) <= FARTHEST) ? corners : null;
}
