import assert from 'node:assert/strict';
import { test } from 'node:test';

import { liveEntry } from '../../src/kernel/state';
import { cellNumber } from '../../src/record/cell';
import { ALL_RECORDS, rowsOf, runsByCell, select, trendOfRepeat } from '../../src/record/cellrows';
import { readRecord, type IRecord } from '../../src/record/record';
import { timedRuns } from '../../src/record/repeat';
import { fileName } from '../../src/record/receipttext';
import { reading, recordJson } from '../records';

const WALLS = [3, 1, 2, 1];

function known(sequence: number, changes: object): IRecord {
  const record = readRecord(recordJson(sequence, changes));
  assert(typeof record !== 'string');
  return record;
}

/** A run of the cell [10], which repeats three times. */
function run(turn: number, changes: object = {}): IRecord {
  return known(turn + 1, {
    cell: { sequence: turn + 1, id: 'a', execution_count: 10, source_digest: 'd', name: 'f()' },
    mode: turn > 3 ? 'profiled' : 'light',
    readings: [reading('wall_time', WALLS[turn] ?? 9)],
    repeat: { number: turn, of: 3, walls: turn > 3 ? WALLS : [] },
    ...changes
  });
}

test('a cell is named by its count, a run of one that repeats by its turn, others by their own number', () => {
  assert.equal(cellNumber(known(7, {}).cell), '[7]');
  assert.equal(cellNumber(run(2).cell), '[10.2]');
  const script = known(7, { cell: { sequence: 12, id: null, execution_count: null, name: 'f' } });
  assert.equal(cellNumber(script.cell), '#12');
  assert.deepEqual(
    [run(2), known(7, {}), script].map(record => fileName(record, '.jsonl')),
    ['lesson-cell-10.2.jsonl', 'lesson-cell-7.jsonl', 'lesson-record-12.jsonl']
  );
});

test('the timing is of the timed runs alone: neither the warm-up nor the profiled run', () => {
  assert.deepEqual(timedRuns(run(4)), [1, 2, 1]);
  assert.deepEqual(timedRuns(run(3)), []);
});

test('the runs are one group, with the trend of the timed ones, beside other records', () => {
  const entries = [...[0, 1, 2, 3, 4].map(turn => liveEntry(run(turn))), liveEntry(known(20, {}))];
  const rows = rowsOf(select(entries, ALL_RECORDS).entries, 'none', new Set());
  assert.deepEqual(
    rows.map(one => (one.entry === null ? one.heading.group : cellNumber(one.entry.record.cell))),
    ['[20]', 'repeat', '[10.4]', '[10.3]', '[10.2]', '[10.1]', '[10.0]']
  );
  const members = rows[1]?.heading?.members ?? [];
  assert.deepEqual(
    trendOfRepeat(members)?.runs.map(({ wall }) => wall),
    [1, 2, 1]
  );
  assert.equal([...runsByCell(entries).values()][0]?.length, 3);
});

test('what a stranger writes of runs is no run, or one without what cannot be read', () => {
  assert.equal(run(1, { repeat: { number: -1, of: 3 } }).repeat, null);
  assert.equal(run(1, { repeat: [] }).cell.turn, null);
  const odd = run(4, { repeat: { number: 4, of: 3, walls: [1, 'x', -2, null, 5] } });
  assert.deepEqual(odd.repeat?.walls, [1, null, null, null, 5]);
});
