import assert from 'node:assert/strict';
import { test } from 'node:test';

import { heatOf } from '../../src/record/heat';
import type { IRecord } from '../../src/record/record';

const line = (number: number, share: number, cell: number | null = null): object => ({
  line: number,
  samples: 10,
  share,
  low: 0,
  high: 1,
  cell,
  calls: null
});

function record(sequence: number, id: string, count: number, ...lines: object[]): IRecord {
  const cell = { sequence, id, executionCount: count };
  return { runId: 'run', cell, lines } as unknown as IRecord;
}

const CELLS = [
  { id: 'a', count: 1 },
  { id: 'b', count: 5 }
];

test('the newest record with lines in a cell marks it, also one that called its functions', () => {
  const heat = heatOf(
    [record(1, 'a', 1, line(2, 0.9)), record(5, 'b', 5, line(1, 0.6), line(2, 0.4, 1))],
    CELLS
  );
  assert.deepEqual(heat.get(0), { lines: [line(2, 0.4, 1)], sampledIn: 5, run: 'run/5' });
  assert.deepEqual(heat.get(1), { lines: [line(1, 0.6)], sampledIn: null, run: 'run/5' });
});

test('an earlier run of a cell, or code that has changed since, marks nothing', () => {
  assert.equal(heatOf([record(1, 'b', 3, line(1, 0.9))], CELLS).size, 0);
  assert.equal(heatOf([record(1, 'b', 5, line(1, 0.9))], [{ id: 'b', count: null }]).size, 0);
});

test('a line with hardly a sample is not marked', () => {
  assert.equal(heatOf([record(5, 'b', 5, line(1, 0.04))], CELLS).size, 0);
});
