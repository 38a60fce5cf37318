/** Times per operation of a profiled record, grouped and filtered. */

import type { Sentence } from '../language/sentence';
import { grouped } from './sorting';
import type { IOpStat as IOperation } from './wire';

export type { IOpStat as IOperation } from './wire';

/** The operations of a device or of the host's threads, sorted by self time. */
export interface IOperationGroup {
  device: string;
  profiler: Sentence;
  rows: IOperation[];
}

/** Return a group for each device, then one for the host's threads. */
export function operationGroups(operations: readonly IOperation[]): IOperationGroup[] {
  const sorted = [...operations].sort((one, other) => other.selfTime - one.selfTime);
  const groups = grouped(
    sorted,
    ({ plane, device, profiler }) =>
      `${plane === 'device' ? 0 : 1} ${device} ${JSON.stringify(profiler)}`
  );
  return [...groups]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, rows]) =>
      rows[0] === undefined ? [] : [{ device: rows[0].device, profiler: rows[0].profiler, rows }]
    );
}

/** Columns by which a table of operations can be sorted. */
export type OperationColumn =
  'name' | 'type' | 'count' | 'selfTime' | 'totalTime' | 'share' | 'bytes' | 'flops';

/** Return the columns that these rows fill, the most useful first because the sidebar is narrow. */
export function filledColumns(rows: readonly IOperation[]): OperationColumn[] {
  const always: OperationColumn[] = ['name', 'selfTime', 'share', 'totalTime', 'count'];
  const filled = (['bytes', 'flops'] as const).filter(id => rows.some(row => row[id] !== null));
  const types = rows.some(({ name, type }) => type !== '' && type !== name);
  return [...always, ...filled, ...(types ? (['type'] as const) : [])];
}

/** Return the rows whose name or type contains the words, ignoring case. */
export function operationsNamed(rows: readonly IOperation[], words: string): IOperation[] {
  const wanted = words.trim().toLocaleLowerCase();
  return rows.filter(
    ({ name, type }) =>
      name.toLocaleLowerCase().includes(wanted) || type.toLocaleLowerCase().includes(wanted)
  );
}
