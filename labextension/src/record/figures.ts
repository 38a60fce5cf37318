/** Figures that lists read repeatedly, computed once for each record, which is immutable. */

import type { IReading, IRecord } from './record';
import { inWords } from './requested';
import { energyOf } from './words';

/** Placeholders for the device of records without one. They contain a space, which device names do not. */
export const NOWHERE = 'no operation';
export const NOT_KNOWN = 'not known';

/** The figures of a record in a list. */
export interface IFigures {
  name: string;
  cell: string;
  devices: readonly string[];
  wall: number | null;
  device: number | null;
  memory: number | null;
  energy: number | null;
  noted: boolean;
  /** The kind of what it spent its time on; empty if that is not known. */
  cause: string;
}

export function figures(record: IRecord): IFigures {
  let found = known.get(record);
  if (found === undefined) {
    const { cell, runId, requested, readings, notes, logs } = record;
    const wall = value(readings, 'wall_time');
    const device = value(readings, 'device_time');
    found = {
      name: cell.name.toLowerCase(),
      cell: `${runId}\n${inWords(requested)}\n${cell.digest ?? `block ${cell.name}`}`,
      devices: places(record),
      wall: record.mode === 'profiled' ? null : wall,
      device,
      memory: value(readings, 'peak_memory_process'),
      energy: energyOf(record)?.value ?? null,
      noted: notes.length > 0 || logs.some(({ verdict }) => verdict !== 'unknown'),
      cause: record.head.kind
    };
    known.set(record, found);
  }
  return found;
}

const known = new WeakMap<IRecord, IFigures>();

function places({ ranOn }: IRecord): readonly string[] {
  if (ranOn === null) {
    return AT_NOT_KNOWN;
  }
  return ranOn.length === 0 ? AT_NOWHERE : ranOn.map(({ device }) => device);
}

const AT_NOT_KNOWN = [NOT_KNOWN];
const AT_NOWHERE = [NOWHERE];

/** Return the value of a quantity, the largest of several devices; null if it was not measured. */
function value(readings: readonly IReading[], quantity: string): number | null {
  let largest: number | null = null;
  for (const reading of readings) {
    if (reading.quantity === quantity && reading.value !== null) {
      largest = Math.max(reading.value, largest ?? 0);
    }
  }
  return largest;
}
