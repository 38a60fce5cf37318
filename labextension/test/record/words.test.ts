import assert from 'node:assert/strict';
import { test } from 'node:test';

import { translator } from '../../src/language/i18n';
import { answer } from '../../src/record/limits';
import { readRecord } from '../../src/record/record';
import type { IRecord } from '../../src/record/record';
import { figure, longestTime, quantityName, shown } from '../../src/record/words';
import { reading, recordJson } from '../records';

const english = translator(null);

function known(changes: object): IRecord {
  const record = readRecord(recordJson(1, changes));
  assert(typeof record !== 'string');
  return record;
}

test('a profiled cell shows no timing', () => {
  const record = known({ mode: 'profiled' });
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

test('a missing reading is not a zero', () => {
  const missing = known({}).readings[2];
  assert(missing);
  assert.equal(figure(missing, english), 'not measured');
});

test('a value is put in as it came, also where it looks like a name', () => {
  assert.equal(english('scale', { time: '{time} $& <b>' }), 'Scale: {time} $& <b>');
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

test('a time that the profiler made longer says so and fills no bar', () => {
  const record = known({
    mode: 'profiled',
    readings: [reading('wall_time', 2), reading('cpu_time', 1)]
  });
  assert.equal(longestTime(record), 0);
  assert.equal(longestTime(known({ readings: [reading('wall_time', 2)] })), 2);
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
