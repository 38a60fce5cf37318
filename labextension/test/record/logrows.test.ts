import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  ALL_LINES,
  filterSections,
  groups,
  linesLeftOut,
  logSections
} from '../../src/record/logrows';
import type { ILogFilter, ILogRow, LogRows } from '../../src/record/logrows';
import { KernelModel } from '../../src/kernel/model';
import { readDelta, readSnapshot } from '../../src/kernel/protocol';
import { readRecord } from '../../src/record/record';
import { savedEntry } from '../../src/kernel/state';
import {
  RUN,
  deltaJson,
  logJson,
  metal,
  outOfMemory,
  recordJson,
  runningJson,
  snapshotJson
} from '../records';

/** A live kernel: lines of no cell, a record with lines, a cell that runs and brings lines. */
function liveModel(): KernelModel {
  const model = new KernelModel(() => 0);
  const snapshot = readSnapshot(
    snapshotJson(1, [], {
      records: [recordJson(1, { logs: [metal, logJson('from one')] })],
      logs: [logJson('at the start')],
      running: { ...runningJson(2), logs: [logJson('first of two')] }
    })
  );
  assert(snapshot);
  model.applySnapshot(snapshot);
  return model;
}

function tell(model: KernelModel, seq: number, ...events: object[]): void {
  const delta = readDelta(deltaJson(seq, events));
  assert(delta);
  model.applyDelta(delta);
}

function filtered(model: KernelModel, filter: Partial<ILogFilter> = {}): LogRows {
  const rows = filterSections(logSections(model.state), { ...ALL_LINES, ...filter }, null);
  assert(rows);
  return rows;
}

/** Every one of them, as a list draws it. */
function all(rows: LogRows): ILogRow[] {
  return Array.from({ length: rows.length }, (_, index) => {
    const row = rows.at(index);
    assert(row);
    assert.equal(rows.keyAt(index), row.key);
    return row;
  });
}

const logRows = (model: KernelModel): ILogRow[] => all(filtered(model));
const texts = (rows: readonly ILogRow[]): string[] => rows.map(({ line }) => line.text);
const shown = (model: KernelModel, filter: Partial<ILogFilter> = {}): string[] =>
  texts(all(filtered(model, filter)));

test('lines stand in the order in which they came, those of the running cell last', () => {
  const model = liveModel();
  tell(model, 2, { type: 'logs', sequence: 2, lines: [outOfMemory] });
  assert.deepEqual(shown(model), [
    'at the start',
    'Metal device set to: Apple M1 Max',
    'from one',
    'first of two',
    'OOM when allocating'
  ]);
});

test('the record replaces what was shown live, and late lines replace the record', () => {
  const model = liveModel();
  tell(model, 2, { type: 'record', record: recordJson(2, { logs: [logJson('whole of two')] }) });
  assert.deepEqual(shown(model).slice(3), ['whole of two']);
  const late = logJson('late', { late: true });
  tell(model, 3, {
    type: 'record',
    record: recordJson(2, { logs: [logJson('whole of two'), late] })
  });
  assert.deepEqual(shown(model).slice(3), ['whole of two', 'late']);
});

test('live lines of a cell that has ended, or is not known, are not shown', () => {
  const model = liveModel();
  tell(model, 2, { type: 'logs', sequence: 99, lines: [logJson('whose?')] });
  tell(model, 3, { type: 'logs', lines: [logJson('whose?')] });
  assert(!shown(model).includes('whose?'));
  tell(model, 4, { type: 'logs', sequence: null, lines: [logJson('nobody’s')] });
  assert.equal(shown(model)[1], 'nobody’s');
});

test('of a cell that brings very many lines the newest are kept and the others counted', () => {
  const model = liveModel();
  const lines = Array.from({ length: 1_500 }, (_, n) => logJson(`line ${n}`));
  tell(model, 2, { type: 'logs', sequence: 2, lines });
  tell(model, 3, { type: 'logs', sequence: 2, lines });
  const [cell] = model.state.running;
  assert.equal(cell?.logs.length, 2_000);
  assert.equal(cell.earlierLogs, 1_001);
  const keys = logRows(model).map(({ key }) => key);
  assert.equal(new Set(keys).size, keys.length);
  assert(keys.includes(`${RUN}/2#3000`));
});

test('a filter by verdict, cell and text leaves what fits all of them', () => {
  const model = liveModel();
  tell(model, 2, { type: 'logs', sequence: 2, lines: [outOfMemory] });
  assert.deepEqual(shown(model, { verdicts: new Set(['action', 'info']) }), [
    'Metal device set to: Apple M1 Max',
    'OOM when allocating'
  ]);
  assert.deepEqual(shown(model, { group: `${RUN}/1`, text: 'FROM' }), ['from one']);
  assert.deepEqual(shown(model, { text: 'batch smaller' }), ['OOM when allocating']);
  const { counts } = filtered(model, { group: `${RUN}/2`, verdicts: new Set(['fatal']) });
  assert.equal(counts.unknown, 1);
  assert.equal(counts.action, 1);
  assert.equal(counts.info, 0);
});

test('cells to choose from are those with lines, the newest first', () => {
  const found = groups(logSections(liveModel().state), 10);
  assert.deepEqual(
    found.map(({ cell }) => cell?.sequence ?? null),
    [2, 1, null]
  );
  assert.equal(groups(logSections(liveModel().state), 2).length, 2);
  assert.equal(groups(logSections(liveModel().state), 1, `${RUN}/1`).at(-1)?.cell?.sequence, 1);
});

test('a saved notebook shows its lines, and says how many its receipts left out', () => {
  const model = new KernelModel(() => 0);
  const record = readRecord(recordJson(1, { logs: [metal], cut: { 'logs.unknown': 12, ops: 3 } }));
  assert(typeof record !== 'string');
  model.setSaved([savedEntry(record, 'cell-a'), savedEntry(record, 'cell-b')], [], null);
  const rows = logRows(model);
  assert.deepEqual(
    rows.map(({ cellId }) => cellId),
    ['cell-a', 'cell-b']
  );
  assert.equal(new Set(rows.map(({ key }) => key)).size, 2);
  assert.equal(linesLeftOut(model.state.saved), 24);
});

test('what is searched for is a text and no pattern', () => {
  const model = liveModel();
  const lines = ['a.b(c)[d]*', 'aXb(c)[d]*', String.raw`C:\temp|$1`].map(text => logJson(text));
  tell(model, 2, { type: 'logs', sequence: 2, lines });
  assert.deepEqual(shown(model, { text: 'A.B(C)[D]*' }), ['a.b(c)[d]*']);
  assert.deepEqual(shown(model, { text: String.raw`c:\temp|$` }), [String.raw`C:\temp|$1`]);
});

test('100,000 lines are put in order and searched', () => {
  const model = new KernelModel(() => 0);
  const events = Array.from({ length: 100 }, (_, n) => ({
    type: 'record',
    record: recordJson(n, {
      logs: Array.from({ length: 1_000 }, (_, line) => logJson(`${n} ${line} ${'x'.repeat(140)}`))
    })
  }));
  tell(model, 1, ...events);
  assert.equal(logRows(model).length, 100_000);
  assert.deepEqual(shown(model, { text: '99 999 ' }).length, 1);
});

test('what a filter leaves is found in slices, each going on where the one before it was', () => {
  const model = liveModel();
  for (let sequence = 3; sequence < 200; sequence++) {
    const record = recordJson(sequence, { logs: [logJson(`line of ${sequence}`), metal] });
    tell(model, sequence, { type: 'record', record });
  }
  const sections = logSections(model.state);
  const filter = { ...ALL_LINES, text: 'line of 1' };
  assert.equal(filterSections(sections, filter, null, performance.now() - 1), null);
  let found = null;
  while (found === null) {
    // The time is over before it begins: each call looks at one section all the same.
    found = filterSections(sections, filter, null, 0);
  }
  const whole = filtered(model, filter);
  assert.equal(whole.length, 110);
  assert.deepEqual(texts(all(found)), texts(all(whole)));
  assert.deepEqual(found.counts, whole.counts);
});

test('a section that a filter was put to is not looked at again until the filter changes', () => {
  const model = liveModel();
  const filter = { ...ALL_LINES, text: 'from' };
  const before = logSections(model.state).map(section => section.filtered(filter, null));
  tell(model, 2, { type: 'record', record: recordJson(7, { logs: [metal] }) });
  const after = logSections(model.state).map(section => section.filtered(filter, null));
  const [, ofRecord] = before;
  assert.equal(after[1], ofRecord);
  assert.equal(filtered(model).length, 5);
});

test('beyond the ends there is no row', () => {
  const rows = filtered(liveModel());
  assert.equal(rows.at(-1), undefined);
  assert.equal(rows.at(rows.length), undefined);
  assert.equal(rows.keyAt(rows.length), undefined);
});
