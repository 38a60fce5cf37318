/**
 * The runs of a cell that repeats: the first one warms up, the next ones are the timing, and the last one has the
 * profiler on.
 */

import type { IRecord } from './record';
import { amount, count, list, shape } from '../language/untrusted';
import type { Read } from '../language/untrusted';

/** Runs of which a record tells, at most. */
const MOST_RUNS = 1002;

export const readRepeat = shape(
  { number: count, of: count },
  {
    /** Seconds of the runs before it, null where they were not measured; in the last one's record alone. */
    walls: (value: unknown) =>
      list(value, MOST_RUNS, wall => ({ wall: amount(wall) })).map(({ wall }) => wall)
  }
);

export type IRepeat = Read<typeof readRepeat>;

/** Seconds of the timed runs, in the record of the one after them; empty in others. */
export function timedRuns({ repeat }: IRecord): number[] {
  return repeat === null || repeat.number <= repeat.of
    ? []
    : repeat.walls.slice(1).filter(wall => wall !== null);
}

/** Whether it is the run that warms up a cell that repeats, which is no timing. */
export function isWarmUp({ repeat }: IRecord): boolean {
  return repeat?.number === 0;
}
