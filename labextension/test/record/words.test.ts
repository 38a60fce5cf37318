import assert from 'node:assert/strict';
import { test } from 'node:test';

import { translator } from '../../src/language/i18n';
import { answer } from '../../src/record/limits';
import { readRecord } from '../../src/record/record';
import type { IRecord } from '../../src/record/record';
import {
  figure,
  folded,
  headline,
  line,
  longestTime,
  place,
  quantityName,
  shown
} from '../../src/record/words';
import { reading, recordJson } from '../records';

const english = translator(null);

function known(changes: object): IRecord {
  const record = readRecord(recordJson(1, changes));
  assert(typeof record !== 'string');
  return record;
}

const ranOn = (device: string, share: number | null): object => ({
  framework: 'tensorflow',
  device,
  kind: 'cpu',
  native_name: null,
  operations: 120,
  share,
  why_missing: null
});

test('the line says time, place and memory, and leaves out what was not measured', () => {
  const record = known({
    device: { requested: { '*': 'cpu:1' }, ran_on: [ranOn('cpu:1', 1)], why_missing: null },
    readings: [
      reading('wall_time', 1.234),
      reading('cpu_time', null),
      reading('peak_memory_process', 512 * 1024 ** 2, 'bytes')
    ]
  });
  assert.equal(line(record, english), '1.23 s · ran on cpu:1 · peak memory 512 MiB');
});

test('a profiled cell shows no timing', () => {
  const record = known({ mode: 'profiled' });
  assert.equal(line(record, english), '1.5 s, with the profiler on');
  const [wall] = record.readings;
  assert(wall);
  assert.equal(shown(wall, record, english), '1.5 s, with the profiler on');
  assert.equal(shown(wall, known({}), english), '1.5 s');
});

test('how long a device was idle is a share of the cell', () => {
  const [idle] = known({ readings: [reading('device_idle', 0.612, 'share')] }).readings;
  assert(idle);
  assert.equal(quantityName(idle.quantity, english), 'Device idle');
  assert.equal(figure(idle, english), '61.2 %');
});

test('work that ran elsewhere than asked for is said', () => {
  const record = known({
    device: {
      requested: { '*': 'gpu:0' },
      ran_on: [ranOn('cpu:0', 0.998), ranOn('gpu:0', 0.002)],
      why_missing: null
    }
  });
  assert.match(line(record, english), /asked for gpu:0, ran on cpu:0 99 %, gpu:0 1 %/);
});

test('a device that is not known is said only where a framework could have used one', () => {
  assert.doesNotMatch(line(known({}), english), /device/);
  const record = known({ versions: { tensorflow: '2.19.1' } });
  assert.match(line(record, english), /device not known/);
});

test('a missing reading is not a zero', () => {
  const missing = known({}).readings[2];
  assert(missing);
  assert.equal(figure(missing, english), 'not measured');
});

test('a value is put in as it came, also where it looks like a name', () => {
  assert.equal(english('scale', { time: '{time} $& <b>' }), 'Scale: {time} $& <b>');
});

test('where frameworks were asked onto devices, each is compared with its own', () => {
  const ran = { ...ranOn('cpu:0', 1), framework: 'tensorflow' };
  const told = (requested: object): string =>
    line(known({ device: { requested, ran_on: [ran], why_missing: null } }), english);
  assert.doesNotMatch(told({ tensorflow: 'cpu:0', torch: 'gpu:0' }), /asked for/);
  assert.match(
    told({ tensorflow: 'gpu:0', torch: 'cpu:0' }),
    /asked for tensorflow gpu:0, torch cpu:0, ran on cpu:0/
  );
});

const seen = (device: string, evidence: unknown, framework = 'torch'): object => ({
  framework,
  device,
  kind: 'cuda',
  native_name: null,
  operations: null,
  share: null,
  why_missing: 'PyTorch does not count them.',
  evidence
});

test('a device that only gave out memory or holds results was used, and more may have run elsewhere', () => {
  const told = (...entries: object[]): string =>
    place(known({ device: { requested: {}, ran_on: entries, why_missing: null } }), english);
  assert.equal(told(seen('gpu:0', 'allocator')), 'used gpu:0');
  assert.equal(told(seen('gpu:0', 'driver')), 'used gpu:0');
  assert.equal(
    told(seen('gpu:0', 'results'), seen('cpu:0', 'counted')),
    'ran on cpu:0, used gpu:0'
  );
  assert.equal(told(seen('cpu:0', 'only device')), 'ran on cpu:0');
  for (const evidence of [null, undefined, 7, 'guessed', {}]) {
    assert.equal(told(seen('gpu:0', evidence)), 'ran on gpu:0');
  }
});

test('operations that were not counted are no zero, and their reason is kept', () => {
  const record = known({
    device: { requested: {}, ran_on: [seen('gpu:0', 'allocator')], why_missing: null }
  });
  const [entry] = record.ranOn ?? [];
  assert.equal(entry?.operations, null);
  assert.equal(entry.share, null);
  assert.equal(entry.evidence, 'allocator');
  assert.equal(entry.whyMissing, 'PyTorch does not count them.');
});

test('where nothing was seen, the only device of a framework is told, and compared with the one asked for', () => {
  const told = (requested: object, only: unknown): string =>
    place(
      known({
        device: { requested, ran_on: null, why_missing: 'Not watched.', only },
        versions: { torch: '2.13.0' }
      }),
      english
    );
  assert.equal(told({}, { torch: 'cpu:0' }), 'PyTorch: cpu:0 only');
  assert.equal(told({ '*': 'cpu:0' }, { torch: 'cpu:0' }), 'PyTorch: cpu:0 only');
  assert.equal(told({ '*': 'gpu:0' }, { torch: 'cpu:0' }), 'asked for gpu:0, PyTorch: cpu:0 only');
  for (const strange of [undefined, null, 7, [], { torch: 7 }]) {
    assert.equal(told({ '*': 'gpu:0' }, strange), 'device not known');
  }
});

test('a time that the profiler made longer says so and fills no bar', () => {
  const record = known({
    mode: 'profiled',
    readings: [reading('wall_time', 2), reading('cpu_time', 1)]
  });
  assert.match(line(record, english), /^2 s, with the profiler on/);
  assert.equal(longestTime(record), 0);
  assert.equal(longestTime(known({ readings: [reading('wall_time', 2)] })), 2);
});

test('the closed receipt has four figures at most, and does not say that nothing ran', () => {
  const record = known({
    device: { requested: {}, ran_on: [], why_missing: null },
    readings: [
      reading('wall_time', 1.5),
      reading('cpu_time', 0.5),
      reading('peak_memory_process', 2 ** 30, 'bytes'),
      reading('energy', 40, 'J')
    ]
  });
  assert.deepEqual(headline(record, english), ['1.5 s', 'peak memory 1 GiB']);
});

test('the closed receipt says for how long the GPU went on after the code', () => {
  const busy = { ...reading('device_time', 0.9), device: 'gpu:0', samples: 9 };
  const record = (went_on: number): ReturnType<typeof known> =>
    known({
      asynchronous: true,
      gpu_work: [{ device: 'gpu:0', launches: 9, kernel_seconds: 0.9, went_on }],
      readings: [reading('wall_time', 0.5), busy]
    });
  assert.equal(headline(record(0.5), english)[1], 'GPU busy 90 %, went on for 500 ms');
  assert.equal(headline(record(0.0005), english)[1], 'GPU busy 100 %');
});

test('the closed receipt says that the GPU is still at work', () => {
  const why = 'The GPU was still at work on this cell, or its records were not there yet.';
  const waited = { ...reading('device_time', null), why_missing: why };
  const record = known({
    asynchronous: true,
    readings: [reading('wall_time', 0.5), waited]
  });
  assert.equal(headline(record, english)[1], 'GPU still at work');
});

test('the closed receipt says how busy the GPU was, or which of several was busiest', () => {
  const busy = (value: number, device: string, samples = 9): object => ({
    ...reading('device_time', value),
    device,
    samples
  });
  const said = (mode: string, ...times: object[]): string[] =>
    headline(known({ mode, readings: [reading('wall_time', 2), ...times] }), english);
  assert.equal(said('light', busy(0.56, 'gpu:0'))[1], 'GPU busy 28 %');
  // The driver's count for the process is coarse.
  const counted = { ...busy(0.56, 'gpu:0'), scope: 'process' };
  assert.equal(said('light', counted)[1], 'GPU busy about 28 %');
  assert.equal(said('light', busy(0.5, 'gpu:0'), busy(1, 'gpu:1'))[1], 'gpu:1 busy 50 %');
  assert.equal(
    said('light', busy(0, 'gpu:0', 0))
      .join()
      .includes('busy'),
    false
  );
  assert.equal(said('profiled', busy(1, 'gpu:0')).join().includes('busy'), false);
});

test('what each GPU did is read as it is written, and rubbish in it is left out', () => {
  const copies = [{ direction: 'host-to-device', count: 6, bytes: 72e6, seconds: 0.006 }, 7];
  const kernels = [{ name: 'gemm', count: 60, seconds: 0.15 }, { name: null }];
  const work = {
    device: 'gpu:0',
    launches: 66,
    kernel_seconds: 0.2,
    copies,
    kernels,
    went_on: 0.1,
    earlier: 0.4
  };
  const [first, ...others] = known({ gpu_work: [work, null, { launches: 1 }] }).gpuWork;
  assert.deepEqual(others, []);
  assert.deepEqual(first, {
    device: 'gpu:0',
    launches: 66,
    kernelSeconds: 0.2,
    copies: copies.slice(0, 1),
    kernels: kernels.slice(0, 1),
    wentOn: 0.1,
    earlier: 0.4,
    lane: null
  });
  assert.deepEqual(known({}).gpuWork, []);
});

test('the receipt of a cell that computed nothing is folded, unless there is something to say', () => {
  const facts = { holds_only: { value: 'definitions', source: "the cell's code" } };
  assert.equal(folded(known({ facts })), true);
  assert.equal(folded(known({})), false);
  assert.equal(folded(known({ facts, outcome: 'error' })), false);
  assert.equal(folded(known({ facts, notes: ['The kernel before this one died.'] })), false);
});

test('reasons that a notebook’s file has once are readings again, and rubbish among them is none', () => {
  const record = known({
    readings: [reading('wall_time', 1.5)],
    not_measured: [
      { quantities: ['device_time', 'energy'], why_missing: 'No profiler ran.' },
      { quantities: [7, null, 'energy'], why_missing: 'No driver.', device: 'gpu:0' },
      { quantities: 'all', why_missing: 'No list.' },
      { quantities: ['no_reason'] },
      null
    ]
  });
  assert.deepEqual(
    record.readings.map(({ quantity, value, whyMissing }) => [quantity, value, whyMissing]),
    [
      ['wall_time', 1.5, null],
      ['device_time', null, 'No profiler ran.'],
      ['energy', null, 'No profiler ran.'],
      ['energy', null, 'No driver.']
    ]
  );
});

test('an answer says how sure it is, and what mending can give', () => {
  const said = (confidence: string, bound?: string): string => {
    const { limit } = known({
      limit: { kind: 'input', confidence, said: 'Preparing data.', bound }
    });
    assert(limit !== null);
    return answer(limit, english);
  };
  assert.equal(said('sure'), 'Preparing data.');
  assert.equal(
    said('likely', 'At most 3 times as fast.'),
    'Likely: Preparing data. At most 3 times as fast.'
  );
});

test('a GPU that worked for the cell is named where no framework tells', () => {
  const unknown = { ran_on: null, why_missing: 'because', requested: {}, only: {} };
  const record = (launches: number): IRecord =>
    known({
      device: unknown,
      versions: { torch: '2.11' },
      gpu_work: [{ device: 'gpu:1', launches, kernel_seconds: 0.1 }]
    });
  assert.equal(place(record(9), english), 'used gpu:1');
  assert.equal(place(record(0), english), 'device not known');
});
