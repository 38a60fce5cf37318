/** Chooses the hot lines that are marked in the code of a notebook's cells. Pure functions. */

import type { IRecord } from './record';
import type { IHotLine } from './wire';

/** Smallest share of the samples that is worth a mark. */
const LEAST = 0.05;

/** A cell of the notebook: its id and execution count, null if its code has changed since it ran. */
export interface ICodeCell {
  id: string;
  count: number | null;
}

/**
 * The hot lines of one cell, from the samples of the cell numbered `sampledIn`, null for itself. `run` names the
 * record that has them.
 */
export interface ICellHeat {
  lines: readonly IHotLine[];
  sampledIn: number | null;
  run: string;
}

/**
 * Return the hot lines of each cell by its index. `records` are oldest first. Of the records with lines in a
 * cell, the newest counts: that of the cell's own run, or of a later cell that called its functions.
 */
export function heatOf(
  records: readonly IRecord[],
  cells: readonly ICodeCell[]
): Map<number, ICellHeat> {
  const byCount = new Map<number, number>();
  const byId = new Map<string, number>();
  cells.forEach(({ id, count }, index) => {
    if (count !== null) {
      byCount.set(count, index);
      byId.set(id, index);
    }
  });
  const heat = new Map<number, ICellHeat>();
  for (let at = records.length - 1; at >= 0 && heat.size < cells.length; at--) {
    const record = records[at];
    if (record !== undefined && record.lines.length > 0) {
      for (const [index, lines] of linesByCell(record, cells, byCount, byId)) {
        if (!heat.has(index)) {
          const own = cells[index]?.id === record.cell.id;
          const run = `${record.runId}/${record.cell.sequence}`;
          heat.set(index, { lines, sampledIn: own ? null : record.cell.executionCount, run });
        }
      }
    }
  }
  return heat;
}

function linesByCell(
  record: IRecord,
  cells: readonly ICodeCell[],
  byCount: ReadonlyMap<number, number>,
  byId: ReadonlyMap<string, number>
): Map<number, IHotLine[]> {
  const own = record.cell.id === null ? undefined : byId.get(record.cell.id);
  const found = new Map<number, IHotLine[]>();
  for (const line of record.lines) {
    const index = line.cell === null ? own : byCount.get(line.cell);
    // The record of an earlier run of a cell says nothing about its code now.
    const isCurrent =
      index !== undefined &&
      (line.cell !== null || cells[index]?.count === record.cell.executionCount);
    if (isCurrent && line.share >= LEAST) {
      found.set(index, [...(found.get(index) ?? []), line]);
    }
  }
  return found;
}
