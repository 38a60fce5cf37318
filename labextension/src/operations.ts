/**
 * Times per operation of a profiled record, read from what nobody vouches for, and put into tables as
 * jupyter_mlgpu/render/operations.py does it.
 */

import { amount, count, object, printed, text } from './untrusted';

/** Operations that a table shows. */
const TOP = 10;

/** Operations of one record that are read. */
export const MANY = 1000;

/** Of a long name: a kernel's can fill a page. */
const NAME = 200;

export interface IOperation {
  name: string;
  type: string;
  device: string;
  count: number;
  selfTime: number;
  totalTime: number;
  profiler: string;
  onDevice: boolean;
  /** Part of the busy time of its plane and device; null in records from before it was kept. */
  share: number | null;
}

/** The operations of a device or of the host's threads with the most self time. */
export interface IOperationTable {
  device: string;
  profiler: string;
  rows: IOperation[];
  more: number;
}

export function readOperation(data: unknown): IOperation | null {
  const table = object(data);
  const name = printed(table?.name, NAME);
  const selfTime = amount(table?.self_time);
  const totalTime = amount(table?.total_time);
  const calls = count(table?.count);
  if (table === null || !name || selfTime === null || totalTime === null || calls === null) {
    return null;
  }
  return {
    name,
    type: printed(table.type, NAME) ?? '',
    device: text(table.device) ?? '',
    count: calls,
    selfTime,
    totalTime,
    profiler: text(table.profiler) ?? '',
    onDevice: table.plane === 'device',
    share: amount(table.share)
  };
}

/** A table for each device, then one for the host's threads. */
export function operationTables(operations: readonly IOperation[]): IOperationTable[] {
  const groups = new Map<string, IOperation[]>();
  const sorted = [...operations].sort((one, other) => other.selfTime - one.selfTime);
  for (const one of sorted) {
    const key = `${one.onDevice ? 0 : 1} ${one.device} ${one.profiler}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.entries()]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, [first, ...others]]) =>
      first === undefined
        ? []
        : [
            {
              device: first.device,
              profiler: first.profiler,
              rows: [first, ...others].slice(0, TOP),
              more: Math.max(0, others.length + 1 - TOP)
            }
          ]
    );
}
