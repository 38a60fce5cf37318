import assert from 'node:assert/strict';
import { test } from 'node:test';

import { translator } from '../../src/language/i18n';
import { readDelta, readSnapshot } from '../../src/kernel/protocol';
import { readRecord, type IRecord } from '../../src/record/record';
import { deltaJson, reading, recordJson, runningJson, snapshotJson } from '../records';

function known(data: unknown): IRecord {
  const record = readRecord(data);
  assert(typeof record !== 'string', 'the record cannot be read');
  return record;
}

test('a record is read with what is known, and what is not known is no zero', () => {
  const record = known(recordJson(3));
  assert.equal(record.cell.name, 'x = 3');
  assert.equal(record.readings[0]?.value, 1.5);
  assert.equal(record.readings[2]?.value, null);
  assert.equal(record.ranOn, null);
});

test('sentences are read as plain texts and as tables', () => {
  const made = { text: '3 ran', template: '{count} ran', fields: { count: 3 } };
  const read = known(recordJson(1, { notes: ['A note.', made, { plural: 'x' }] }));
  assert.deepEqual(read.notes.map(translator(null).say), ['A note.', '3 ran']);
});

test('a record of a later schema is told apart from one of an earlier schema and from rubbish', () => {
  assert.equal(readRecord(recordJson(1, { schema: 3 })), 'newer');
  assert.equal(readRecord(recordJson(1, { schema: 1 })), 'invalid');
  for (const rubbish of [null, undefined, 7, 'text', [], {}, { schema: 1 }, { schema: 'one' }]) {
    assert.equal(readRecord(rubbish), 'invalid');
  }
  assert.equal(readRecord(recordJson(1, { outcome: 'splendid' })), 'invalid');
  assert.equal(readRecord(recordJson(1, { run: { id: 7 } })), 'invalid');
});

test('what has the wrong type is not known, and never zero', () => {
  const strange = [NaN, Infinity, -1, '5', true, {}, []];
  for (const value of strange) {
    const record = known(recordJson(1, { readings: [{ ...reading('wall_time', 1), value }] }));
    assert.equal(record.readings[0]?.value, null);
  }
  const record = known(recordJson(1, { device: { requested: 7, ran_on: 'gpu', why_missing: [] } }));
  assert.deepEqual(record.requested, []);
  assert.equal(record.ranOn, null);
});

test('texts and lists are cut to a bounded size', () => {
  const long = 'x'.repeat(1_000_000);
  const record = known(
    recordJson(1, {
      cell: { sequence: 1, id: null, execution_count: null, name: long },
      notes: Array.from({ length: 10_000 }, () => long),
      readings: Array.from({ length: 10_000 }, () => reading(long, 1)),
      versions: Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`lib${n}`, long]))
    })
  );
  assert(record.cell.name.length <= 120);
  assert(record.cell.name.endsWith('…'));
  assert(JSON.stringify(record).length < 100_000);
});

test('what a receipt was cut by is counted and named', () => {
  assert.deepEqual(known(recordJson(1, { cut: { logs: 12, ops: 'many' } })).cut, [['logs', 12]]);
});

test('a delta keeps the events it knows and leaves the others out', () => {
  const delta = readDelta(
    deltaJson(2, [
      { type: 'trace', on: false },
      { type: 'explode' },
      { type: 'record', record: recordJson(1, { schema: 99 }) },
      runningJson(4, 12.5),
      7
    ])
  );
  assert.deepEqual(
    delta?.events.map(event => event.type),
    ['trace', 'running']
  );
});

test('a delta or a snapshot of another protocol is no delta and no snapshot', () => {
  assert.equal(readDelta(deltaJson(1, [], { protocol: 2 })), null);
  assert.equal(readDelta('hello'), null);
  assert.equal(readSnapshot(snapshotJson(1, [], { status: 'error' })), null);
  assert.equal(readSnapshot(snapshotJson(1, [], { protocol: 2 })), null);
});

test('a snapshot says what runs and for how long', () => {
  const snapshot = readSnapshot(snapshotJson(5, [1, 2], { running: runningJson(3, 12.3) }));
  assert.equal(snapshot?.page.records.length, 2);
  assert.equal(snapshot.running?.elapsed, 12.3);
  assert.equal(snapshot.device?.pickers.length, 1);
});

test('a delta of ten megabytes becomes a bounded value', () => {
  const long = 'x'.repeat(2_500_000);
  const delta = readDelta(
    deltaJson(1, [
      {
        type: 'choices',
        choices: { device: { word: long, framework: long }, said: { sentence: long } }
      },
      { type: 'progress', sequence: 1, progress: long },
      {
        type: 'device',
        device: {
          requested: long,
          pickers: [{ chosen: long, words: [{ word: long, about: long }], missing: [long] }]
        }
      },
      { ...runningJson(1), cell: { sequence: 1, name: long } },
      { type: long }
    ])
  );
  assert.equal(delta?.events.length, 4);
  assert(JSON.stringify(delta).length < 10_000);
});

test('choices that cannot be read are none', () => {
  for (const rubbish of [null, 7, 'gpu', []]) {
    assert.equal(readSnapshot(snapshotJson(1, [], { choices: rubbish }))?.choices, null);
  }
  const strange = { device: { word: 7 }, trace: 'on', said: { sentence: ['a'] } };
  assert.deepEqual(readSnapshot(snapshotJson(1, [], { choices: strange }))?.choices, {
    device: null,
    trace: null,
    said: null
  });
});

test('a run of a cell that repeats needs both of its numbers', () => {
  const run = (data: unknown): unknown =>
    readSnapshot(snapshotJson(1, [], { running: { ...runningJson(1), run: data } }))?.running?.run;
  assert.deepEqual(run({ number: 1, of: 3 }), { number: 1, of: 3 });
  for (const rubbish of [
    undefined,
    { number: 1 },
    { number: -1, of: 3 },
    { number: 'x', of: 3 },
    7
  ]) {
    assert.equal(run(rubbish), null);
  }
});
