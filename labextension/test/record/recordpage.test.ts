import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

import { readRecordPage } from '../../src/record/recordpage';
import { lines } from '../../src/record/curve';
import { points, readMemorySamples, span } from '../../src/record/memorysamples';
import { filledColumns, operationGroups, operationsNamed } from '../../src/record/operations';
import { PERFETTO, sendTrace, type IPage } from '../../src/lab/perfetto';
import { readRecord, type IRecord } from '../../src/record/record';
import { inOrder, sortedBy } from '../../src/record/sorting';
import { recordJson } from '../records';

function recordOf(changes: object): IRecord {
  const record = readRecord(recordJson(1, changes));
  assert(typeof record !== 'string');
  return record;
}

const looksJson = {
  interval: 0.5,
  series: [
    { device: 'process', unit: 'bytes', source: 'psutil', limit: 100 },
    { device: 'GPU 0', unit: 'bytes', source: 'NVML', limit: null }
  ],
  samples: [
    [0.5, [10, null]],
    [1, [40, 5]],
    [1.5, [20, null]],
    [2, [30, 6]]
  ]
};

test('why there is no timeline and no curve is told apart', () => {
  assert.deepEqual(readRecordPage({ timeline: 'light', why_no_samples: 'short' }), {
    timeline: 'light',
    samples: 'short',
    receipt: null
  });
  for (const nonsense of [null, 7, {}, { timeline: 'x', samples: [], why_no_samples: 'because' }]) {
    assert.deepEqual(readRecordPage(nonsense), {
      timeline: 'gone',
      samples: 'gone',
      receipt: null
    });
  }
});

test('what the open receipt says is read, as far as it can be', () => {
  assert.equal(readRecordPage({ receipt: 'a text' }).receipt, null);
  assert.deepEqual(readRecordPage({ receipt: { places: ['cpu:0'] } }).receipt?.places, ['cpu:0']);
});

test('looks are read with what was not told, and nonsense among them is left out', () => {
  const looks = readMemorySamples({
    ...looksJson,
    samples: [...looksJson.samples, null, [-1, []], ['x', [1]]]
  });
  assert.equal(looks?.samples.length, 4);
  assert(looks);
  assert.deepEqual(span(looks, 0), [10, 40]);
  assert.deepEqual(span(looks, 1), [5, 6]);
  assert.equal(readMemorySamples({ ...looksJson, samples: [] }), null);
  assert.equal(readMemorySamples(null), null);
});

test('a curve begins at the cell’s start and at zero, and parts where nothing was told', () => {
  const looks = readMemorySamples(looksJson);
  assert(looks);
  const drawn = (series: number, top: number): string[] =>
    lines(points(looks, series), { from: 0, to: 2, top }, [100, 40]);
  assert.deepEqual(drawn(0, 40), ['25.00,30.00 50.00,0.00 75.00,20.00 100.00,10.00']);
  assert.deepEqual(drawn(1, 10), ['50.00,20.00', '100.00,16.00']);
});

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

test('bytes, FLOP and types have columns where they tell something', () => {
  const { ops } = recordOf({
    ops: [operation('mm', 1), operation('b', 2, { bytes: 8, flops: 1e9 })]
  });
  assert.deepEqual(filledColumns(ops).slice(-3), ['bytes', 'flops', 'type']);
  assert.equal(filledColumns(ops.filter(({ name }) => name === 'mm')).at(-1), 'count');
});

test('all operations of a device are in its group, and words find them by name and type', () => {
  const { ops } = recordOf({
    ops: Array.from({ length: 40 }, (_, n) => operation(`dense_${n}/MatMul`, n))
  });
  const [group] = operationGroups(ops);
  assert.equal(group?.rows.length, 40);
  assert.equal(operationsNamed(ops, ' DENSE_7/ ').length, 1);
  assert.equal(operationsNamed(ops, 'mm').length, 40);
  assert.equal(operationsNamed(ops, '').length, 40);
  assert.equal(operationsNamed(ops, '<b>').length, 0);
});

test('a click on the sorted column turns it around, another column begins with what is read first', () => {
  const sort = { column: 'share', descending: true } as const;
  assert.deepEqual(sortedBy<string>(sort, 'share', true), { column: 'share', descending: false });
  assert.deepEqual(sortedBy<string>(sort, 'name', false), { column: 'name', descending: false });
});

test('what is not known comes last, whichever way a table is sorted', () => {
  const rows = [{ share: 1 }, { share: null }, { share: 3 }];
  const shares = (descending: boolean): unknown[] =>
    inOrder(rows, { column: 'share', descending }).map(({ share }) => share);
  assert.deepEqual(shares(true), [3, 1, null]);
  assert.deepEqual(shares(false), [1, 3, null]);
});

class FakePage implements IPage {
  closed = false;
  got: [unknown, string][] = [];
  postMessage(message: unknown, origin: string): void {
    this.got.push([message, origin]);
  }
}

const trace = { title: 'a cell', fileName: 'a.json', text: '{"traceEvents":[]}' };

function says(here: EventTarget, source: unknown, origin: string, data: unknown): void {
  here.dispatchEvent(Object.assign(new Event('message'), { source, origin, data }));
}

test('Perfetto is called until it answers, and then gets the trace', async context => {
  context.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const [page, here] = [new FakePage(), new EventTarget()];
  const taken = sendTrace(page, trace, here);
  context.mock.timers.tick(400);
  assert.deepEqual(page.got, [
    ['PING', PERFETTO],
    ['PING', PERFETTO]
  ]);
  says(here, page, PERFETTO, 'PONG');
  assert.equal(await taken, true);
  const [message, origin] = page.got.at(-1) ?? [];
  const { perfetto } = message as { perfetto: { buffer: ArrayBuffer; title: string } };
  assert.equal(new TextDecoder().decode(perfetto.buffer), trace.text);
  assert.equal(perfetto.title, 'a cell');
  assert.equal(origin, PERFETTO);
});

test('nobody but Perfetto’s page gets the trace', async context => {
  context.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const [page, here] = [new FakePage(), new EventTarget()];
  const taken = sendTrace(page, trace, here);
  says(here, page, 'https://elsewhere.example', 'PONG');
  says(here, new FakePage(), PERFETTO, 'PONG');
  says(here, page, PERFETTO, { perfetto: 'PONG' });
  context.mock.timers.tick(60_000);
  assert.equal(await taken, false);
  assert(page.got.every(([message]) => message === 'PING'));
});

test('a page that the user closes is called no more', async () => {
  mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const page = new FakePage();
  const taken = sendTrace(page, trace, new EventTarget());
  page.closed = true;
  mock.timers.tick(400);
  assert.equal(await taken, false);
  assert.deepEqual(page.got, []);
  mock.timers.reset();
});
