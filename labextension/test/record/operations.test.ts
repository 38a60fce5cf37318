import assert from 'node:assert/strict';
import { test } from 'node:test';

import { operationGroups } from '../../src/record/operations';
import { readRecord } from '../../src/record/record';
import { recordJson } from '../records';

const operation = (name: string, selfTime: number, changes: object = {}): object => ({
  name,
  type: 'mm',
  device: 'host',
  count: 2,
  self_time: selfTime,
  total_time: 2 * selfTime,
  profiler: 'a profiler',
  plane: 'host',
  share: 0.5,
  ...changes
});

function tablesOf(...ops: unknown[]): ReturnType<typeof operationGroups> {
  const record = readRecord(recordJson(1, { mode: 'profiled', ops }));
  assert(typeof record !== 'string');
  return operationGroups(record.ops);
}

test('devices come before the host, and the operation with the most self time first', () => {
  const gpu = { device: 'gpu:0', plane: 'device' };
  const tables = tablesOf(operation('a', 1), operation('k', 2, gpu), operation('b', 3));
  assert.deepEqual(
    tables.map(table => [table.device, table.rows.map(row => row.name)]),
    [
      ['gpu:0', ['k']],
      ['host', ['b', 'a']]
    ]
  );
});

test('what is no operation is left out, and what one does not see in a name is written out', () => {
  const bad = [null, 'text', {}, operation('x', -1), operation('y', 1, { count: 'many' })];
  assert.deepEqual(tablesOf(...bad), []);
  assert.equal(tablesOf(operation('a\u202eb', 1))[0]?.rows[0]?.name, 'a\\u202eb');
});

test('an operation saved before planes were kept stands with its device', () => {
  const old = operation('a', 1, { device: 'cpu:0', plane: undefined, share: undefined });
  const [table] = tablesOf(old);
  assert(table);
  assert.equal(table.device, 'cpu:0');
  assert.equal(table.rows[0]?.share, null);
});
