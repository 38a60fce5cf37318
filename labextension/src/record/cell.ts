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

/** `[10]`, `[10.2]` for a run of a cell that repeats, `#12` by its own number where there is no count. */
export function cellNumber({ sequence, executionCount, turn }: ICell): string {
  if (executionCount === null) {
    return `#${sequence}`;
  }
  return turn === null ? `[${executionCount}]` : `[${executionCount}.${turn}]`;
}
