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
  /** Input shapes, bytes copied and floating-point operations of all calls; null: the profiler tells none. */
  shapes: string | null;
  bytes: number | null;
  flops: number | null;
}

/** The operations of a device or of the host's threads, those with the most self time first. */
export interface IOperationGroup {
  device: string;
  profiler: string;
  rows: IOperation[];
}

/** The first of them, and how many more there are. */
export interface IOperationTable extends IOperationGroup {
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
    share: amount(table.share),
    shapes: printed(table.shapes, NAME),
    bytes: amount(table.bytes),
    flops: amount(table.flops)
  };
}

/** A group for each device, then one for the host's threads. */
export function operationGroups(operations: readonly IOperation[]): IOperationGroup[] {
  const groups = new Map<string, IOperation[]>();
  const sorted = [...operations].sort((one, other) => other.selfTime - one.selfTime);
  for (const one of sorted) {
    const key = `${one.onDevice ? 0 : 1} ${one.device} ${one.profiler}`;
    const group = groups.get(key);
    if (group) {
      group.push(one);
    } else {
      groups.set(key, [one]);
    }
  }
  return [...groups.entries()]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, rows]) =>
      rows[0] === undefined ? [] : [{ device: rows[0].device, profiler: rows[0].profiler, rows }]
    );
}

/** As `operationGroups`, with the rows that a receipt shows. */
export function operationTables(operations: readonly IOperation[]): IOperationTable[] {
  return operationGroups(operations).map(group => ({
    ...group,
    rows: group.rows.slice(0, TOP),
    more: Math.max(0, group.rows.length - TOP)
  }));
}

/** What a table of operations can be sorted by. */
export type OperationColumn =
  'name' | 'type' | 'count' | 'selfTime' | 'totalTime' | 'share' | 'bytes' | 'flops';

/** The columns that these rows fill: those read most come first, for a sidebar is narrow. */
export function filledColumns(rows: readonly IOperation[]): OperationColumn[] {
  const always: OperationColumn[] = ['name', 'selfTime', 'share', 'totalTime', 'count'];
  const told = (['bytes', 'flops'] as const).filter(id => rows.some(row => row[id] !== null));
  const types = rows.some(({ name, type }) => type !== '' && type !== name);
  return [...always, ...told, ...(types ? (['type'] as const) : [])];
}

/** The rows whose name or type holds the words typed, in whatever case. */
export function operationsNamed(rows: readonly IOperation[], words: string): IOperation[] {
  const wanted = words.trim().toLocaleLowerCase();
  return rows.filter(
    ({ name, type }) =>
      name.toLocaleLowerCase().includes(wanted) || type.toLocaleLowerCase().includes(wanted)
  );
}
