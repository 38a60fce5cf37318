/**
 * Times per operation of a profiled record, read from what nobody vouches for, and put into tables as
 * jupyter_mlgpu/show/receipts/operations.py does it.
 */

import { grouped } from './sorting';
import { amount, count, named, or, printedIn, shape, text } from '../language/untrusted';
import type { Read } from '../language/untrusted';

/** Operations that a table shows. */
const TOP = 10;

/** Operations of one record that are read. */
export const MANY = 1000;

/** Of a long name: a kernel's can fill a page. */
const NAME = 200;

const name = printedIn(NAME);

export const readOperation = shape(
  { name: value => name(value) || null, selfTime: amount, totalTime: amount, count },
  {
    type: or('', name),
    device: or('', text),
    profiler: or('', text),
    onDevice: named('plane', value => value === 'device'),
    /** Part of the busy time of its plane and device; null in records from before it was kept. */
    share: amount,
    /** Input shapes, bytes copied and floating-point operations of all calls; null: the profiler tells none. */
    shapes: name,
    bytes: amount,
    flops: amount
  }
);

export type IOperation = Read<typeof readOperation>;

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

/** A group for each device, then one for the host's threads. */
export function operationGroups(operations: readonly IOperation[]): IOperationGroup[] {
  const sorted = [...operations].sort((one, other) => other.selfTime - one.selfTime);
  const groups = grouped(
    sorted,
    ({ onDevice, device, profiler }) => `${onDevice ? 0 : 1} ${device} ${profiler}`
  );
  return [...groups]
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
