import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  ALL_RECORDS,
  countFilters,
  devicesOf,
  figureOf,
  orderOf,
  rowsOf,
  runsByCell,
  select,
  trendOf
} from '../../src/record/cellrows';
import type { IRecordFilter } from '../../src/record/cellrows';
import { NOT_KNOWN, NOWHERE } from '../../src/record/figures';
import { readRecord, type IRecord } from '../../src/record/record';
import { liveEntry, type IEntry } from '../../src/kernel/state';
import { RUN, logJson, metal, reading, recordJson } from '../records';

const NONE: ReadonlySet<string> = new Set();

function record(sequence: number, changes: object = {}): IRecord {
  const read = readRecord(recordJson(sequence, changes));
  assert(typeof read !== 'string');
  return read;
}

function entry(sequence: number, changes: object = {}): IEntry {
  return liveEntry(record(sequence, changes));
}

/** A record with readings of which all but its wall time may be missing. */
function measured(sequence: number, wall: number | null, more: object[] = []): IEntry {
  return entry(sequence, { readings: [reading('wall_time', wall), ...more] });
}

/** A run of the cell with this code. */
function run(sequence: number, digest: string | null, changes: object = {}): IEntry {
  const cell = {
    sequence,
    id: 'cell-a',
    execution_count: sequence,
    source_digest: digest,
    name: 'fit()'
  };
  return entry(sequence, { cell, ...changes });
}

function ran(...devices: string[]): object {
  const used = devices.map(device => ({ framework: 'torch', device, kind: 'cuda' }));
  return { device: { requested: {}, ran_on: used, why_missing: null } };
}

const shown = (entries: readonly IEntry[], filter: Partial<IRecordFilter> = {}): number[] =>
  select(entries, { ...ALL_RECORDS, ...filter }).entries.map(one => one.record.cell.sequence);

test('the newest record comes first, or the oldest where that is asked for', () => {
  const entries = [entry(1), entry(2), entry(3)];
  assert.deepEqual(shown(entries), [3, 2, 1]);
  assert.deepEqual(shown(entries, { sort: 'oldest' }), [1, 2, 3]);
});

test('sorted by a figure the largest comes first, and what was not measured stands last and is counted', () => {
  const joules = (value: number): object => ({
    ...reading('energy', value, 'J'),
    scope: 'machine'
  });
  const entries = [
    measured(1, 0.2, [reading('device_time', 3), reading('peak_memory_process', 7, 'bytes')]),
    measured(2, 0.9, [reading('device_time', null), joules(5)]),
    measured(3, null, [reading('device_time', 4)]),
    measured(4, 0.5, [reading('peak_memory_process', 9, 'bytes'), joules(6)])
  ];
  assert.deepEqual(shown(entries, { sort: 'wall' }), [2, 4, 1, 3]);
  assert.deepEqual(shown(entries, { sort: 'device' }), [3, 1, 4, 2]);
  assert.deepEqual(shown(entries, { sort: 'memory' }), [4, 1, 3, 2]);
  assert.deepEqual(shown(entries, { sort: 'energy' }), [4, 2, 3, 1]);
  assert.equal(select(entries, { ...ALL_RECORDS, sort: 'wall' }).unmeasured, 1);
  assert.equal(select(entries, { ...ALL_RECORDS, sort: 'energy' }).unmeasured, 2);
  assert.equal(select(entries, ALL_RECORDS).unmeasured, 0);
});

test('a time of 0 was measured, and stands before what was not', () => {
  assert.deepEqual(shown([measured(1, 0), measured(2, null)], { sort: 'wall' }), [1, 2]);
});

test('a wall time that a profiler made longer is no timing: it sorts last and fills no bar', () => {
  const entries = [measured(1, 0.5), entry(2, { mode: 'profiled' })];
  assert.deepEqual(shown(entries, { sort: 'wall' }), [1, 2]);
  assert.equal(select(entries, ALL_RECORDS).scale, 0.5);
});

test('a filter leaves what fits all of it', () => {
  const entries = [
    entry(1, { outcome: 'error', ...ran('gpu:0') }),
    entry(2, { ...ran('cpu:0', 'gpu:0'), logs: [metal] }),
    entry(3, { ...ran('cpu:0'), mode: 'profiled', notes: ['Memory grows.'] }),
    entry(4, { outcome: 'interrupted', logs: [logJson('who knows')] }),
    entry(5, { cell: { sequence: 5, name: 'Model.FIT(x)' }, ...ran() })
  ];
  assert.deepEqual(shown(entries, { outcomes: new Set(['error', 'interrupted']) }), [4, 1]);
  assert.deepEqual(shown(entries, { device: 'gpu:0' }), [2, 1]);
  assert.deepEqual(shown(entries, { device: NOT_KNOWN }), [4]);
  assert.deepEqual(shown(entries, { device: NOWHERE }), [5]);
  assert.deepEqual(shown(entries, { mode: 'profiled' }), [3]);
  assert.deepEqual(shown(entries, { noted: true }), [3, 2]);
  assert.deepEqual(shown(entries, { text: ' model.fit ' }), [5]);
  assert.deepEqual(shown(entries, { device: 'gpu:0', outcomes: new Set(['ok']) }), [2]);
});

test('outcomes are counted with the other filters as they are', () => {
  const entries = [entry(1, { outcome: 'error' }), entry(2), entry(3, { mode: 'profiled' })];
  const { counts } = select(entries, {
    ...ALL_RECORDS,
    mode: 'light',
    outcomes: new Set(['error'])
  });
  assert.deepEqual(counts, { ok: 1, error: 1, interrupted: 0 });
});

test('the scale is that of the figure they are sorted by, and of the records shown', () => {
  const entries = [measured(1, 100), measured(2, 2, [reading('device_time', 3)])];
  assert.equal(select(entries, ALL_RECORDS).scale, 100);
  assert.equal(select(entries, { ...ALL_RECORDS, text: 'x = 2' }).scale, 2);
  assert.equal(select(entries, { ...ALL_RECORDS, sort: 'device' }).scale, 3);
  assert.deepEqual(
    entries.map(({ record }) => figureOf(record, 'device')),
    [null, 3]
  );
});

test('devices to choose from are those that records name, then what is no device', () => {
  const entries = [
    entry(1),
    entry(2, ran('gpu:0', 'cpu:0')),
    entry(3, ran()),
    entry(4, ran('cpu:0'))
  ];
  assert.deepEqual(devicesOf(entries), ['cpu:0', 'gpu:0', NOWHERE, NOT_KNOWN]);
});

test('a stranger’s notebook with a thousand devices gives a list that one can read', () => {
  const entries = Array.from({ length: 1_000 }, (_, n) => entry(n, ran(`gpu:${n}`)));
  assert.equal(devicesOf(entries).length, 64);
});

test('grouped by run, each run has a heading, and a closed one its heading alone', () => {
  const other = { run: { id: 'b'.repeat(32), notebook: null, host_digest: 'x', engine: null } };
  const entries = [entry(1), entry(2), entry(1, { ...other, started_at: '2026-11-22T08:00:00Z' })];
  const rows = rowsOf(select(entries, ALL_RECORDS).entries, 'run', NONE);
  assert.deepEqual(
    rows.map(({ heading }) => heading?.count ?? null),
    [1, null, 2, null, null]
  );
  const first = rows[2];
  assert.equal(first?.heading?.example.record.runId, RUN);
  assert.deepEqual(
    rowsOf(select(entries, ALL_RECORDS).entries, 'run', new Set([first.key])).map(
      ({ heading }) => heading?.open ?? null
    ),
    [true, null, false]
  );
});

test('grouped by cell, runs of one code stand together in the order asked for', () => {
  const entries = [run(1, 'a'), run(2, 'b'), run(3, 'a')];
  const rows = rowsOf(select(entries, ALL_RECORDS).entries, 'cell', NONE);
  assert.deepEqual(
    rows.map(one => one.entry?.record.cell.sequence ?? 'heading'),
    ['heading', 3, 1, 'heading', 2]
  );
  assert.equal(new Set(rows.map(({ key }) => key)).size, rows.length);
});

test('runs of one code form a trend, the oldest first, told by the newest run alone', () => {
  const entries = [run(1, 'a'), run(2, 'b'), run(3, 'a', { outcome: 'error' }), run(4, 'a')];
  const runs = runsByCell(entries);
  assert.deepEqual(trendOf(entries[0]?.record ?? record(0), runs), {
    runs: [
      { wall: 1.5, outcome: 'ok' },
      { wall: 1.5, outcome: 'error' },
      { wall: 1.5, outcome: 'ok' }
    ],
    count: 3
  });
});

test('a single run is no trend', () => {
  const one = run(1, 'a');
  assert.equal(trendOf(one.record, runsByCell([one])), null);
});

test('profiled runs are in no trend, and runs without a wall time are gaps in it', () => {
  const gap = run(2, 'a', { readings: [reading('wall_time', null)] });
  const entries = [run(1, 'a'), gap, run(3, 'a', { mode: 'profiled' })];
  const runs = runsByCell(entries);
  assert.deepEqual(
    trendOf(gap.record, runs)?.runs.map(({ wall }) => wall),
    [1.5, null]
  );
});

test('another device asked for, another kernel and another code are other cells', () => {
  const gpu = { device: { requested: { '*': 'gpu:0' }, ran_on: null, why_missing: null } };
  const fresh = { run: { id: 'c'.repeat(32), notebook: null, host_digest: 'x', engine: null } };
  const entries = [run(1, 'a'), run(2, 'a', gpu), run(3, 'a', fresh), run(4, 'b')];
  assert.equal(runsByCell(entries).size, 4);
});

test('blocks of a script have no code: those of one name are runs of one block', () => {
  const entries = [run(1, null), run(2, null)];
  assert.equal(
    trendOf(record(0, { cell: { sequence: 0, name: 'fit()' } }), runsByCell(entries))?.count,
    2
  );
});

test('of a cell that ran very often the newest runs are shown and all are counted', () => {
  const entries = Array.from({ length: 40 }, (_, n) => run(n, 'a'));
  const trend = trendOf(
    record(0, { cell: { sequence: 0, source_digest: 'a', name: '' } }),
    runsByCell(entries)
  );
  assert.equal(trend?.count, 40);
  assert.equal(trend.runs.length, 12);
});

test('what is folded away and set is counted, and each order has a text of its own', () => {
  assert.equal(countFilters(ALL_RECORDS), 0);
  const filter = { ...ALL_RECORDS, noted: true, outcomes: new Set(['error'] as const), text: 'x' };
  assert.equal(countFilters(filter), 2);
  assert.notEqual(orderOf(filter), orderOf({ ...filter, outcomes: new Set() }));
});

test('10,000 records are filtered, sorted, grouped and their runs found', () => {
  const entries = Array.from({ length: 10_000 }, (_, n) =>
    run(n, `code ${n % 500}`, { readings: [reading('wall_time', (n * 7919) % 1000)] })
  );
  const found = select(entries, { ...ALL_RECORDS, sort: 'wall', text: 'fit' });
  assert.equal(found.entries.length, 10_000);
  assert.equal(rowsOf(found.entries, 'cell', NONE).length, 10_500);
  assert.equal(runsByCell(entries).size, 500);
});
