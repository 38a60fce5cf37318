/**
 * The runs of a cell that repeats: the first one warms up, the next ones are the timing, and the last one has the
 * profiler on.
 */

import type { IRecord } from './record';

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
