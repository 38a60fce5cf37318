/** The time that each cell's code took when it last ran to its end. Pure, without the DOM. */

import type { ICell } from '../record/cell';
import { figures } from '../record/figures';
import type { IRecord } from '../record/record';

/**
 * Times by the digest of the code, from the kernel's records and from the receipts in the notebook. They are
 * kept when the kernel restarts, and when a cell that runs again clears its saved receipt.
 */
export class LastTimes {
  /** Add a record, unless its cell failed, ran under a profiler, or comes from a file. */
  add(record: IRecord): void {
    const { cell, outcome, origin, startedAt } = record;
    const { wall } = figures(record);
    if (cell.digest === null || outcome !== 'ok' || origin !== 'live' || wall === null) {
      return;
    }
    const known = this.times.get(cell.digest);
    // Both are UTC in one format.
    if (known === undefined || known.startedAt <= startedAt) {
      this.times.set(cell.digest, { startedAt, wall });
    }
  }

  /** Return the seconds that a cell's code took last; null if it has not run. */
  of({ digest }: ICell): number | null {
    return (digest === null ? undefined : this.times.get(digest)?.wall) ?? null;
  }

  private readonly times = new Map<string, { startedAt: string; wall: number }>();
}
