/** The cell of a record, and its label. */

import { readCell as readKnown } from './recordtypes';
import type * as wire from './recordtypes';

export interface ICell extends wire.ICell {
  /** Number of the run of a repeated cell; null for other cells. */
  turn: number | null;
}

export function readCell(data: unknown): ICell | null {
  const cell = readKnown(data);
  return cell && { ...cell, turn: null };
}

/** Return `[10]`, `[10.2]` for a run of a repeated cell, or `#12` for a cell without an execution count. */
export function cellNumber({ sequence, executionCount, turn }: ICell): string {
  if (executionCount === null) {
    return `#${sequence}`;
  }
  return turn === null ? `[${executionCount}]` : `[${executionCount}.${turn}]`;
}
