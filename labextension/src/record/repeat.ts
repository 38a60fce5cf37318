/** Runs of a repeated cell: first the warm-up, then the timed runs, and last one with the profiler on. */

import type { IRecord } from './record';

/** Return the seconds of the timed runs from the record of the run after them; empty for other records. */
export function timedRuns({ repeat }: IRecord): number[] {
  return repeat === null || repeat.number <= repeat.of
    ? []
    : repeat.walls.slice(1).filter(wall => wall !== null);
}

/** Return true for the warm-up of a repeated cell, which is no timing. */
export function isWarmUp({ repeat }: IRecord): boolean {
  return repeat?.number === 0;
}
