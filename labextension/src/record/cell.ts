/** Which cell a record is of. */

import { readCell as readKnown } from './recordtypes';
import type * as wire from './recordtypes';

export interface ICell extends wire.ICell {
  /** Which run it is of a cell that repeats; null for all other cells. */
  turn: number | null;
}

export function readCell(data: unknown): ICell | null {
  const cell = readKnown(data);
  return cell && { ...cell, turn: null };
}
