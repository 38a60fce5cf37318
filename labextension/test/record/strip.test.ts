/** The lanes of a cell's strip, read as the kernel wrote them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { drawnLanesOf, durationOf, lanesOf, lanesSoFar, notDrawn } from '../../src/record/strip';
import { readStripSoFar } from '../../src/record/recordtypes';
import { readRecord, type IRecord } from '../../src/record/record';
import { reading, recordJson } from '../records';

function known(changes: object): IRecord {
  const record = readRecord(recordJson(1, changes));
  assert(typeof record !== 'string');
  return record;
}

const lane = {
  seconds: 0.1,
  kernels: '0099',
  copies: '0900',
  kernel_seconds: 0.2,
  copy_seconds: 0.1
};
const work = { device: 'gpu:0', launches: 9, kernel_seconds: 0.2, went_on: 0.2, lane };
const host = { seconds: 0.05, did: 'pp w', spent: [{ did: 'p', seconds: 0.1 }] };

test('neighbours that are the same are one box, and what was not sampled is none', () => {
  const [cpu] = lanesOf(known({ readings: [reading('wall_time', 0.2)], host_lane: host }));
  assert.deepEqual(
    cpu?.boxes.map(({ kind, from, to }) => [kind, from, Math.round(to * 100) / 100]),
    [
      ['p', 0, 0.1],
      ['w', 0.15000000000000002, 0.2]
    ]
  );
});

test('the sums of the CPU add up to the wall time', () => {
  const [cpu] = lanesOf(known({ readings: [reading('wall_time', 0.2)], host_lane: host }));
  assert.deepEqual(cpu?.sums, [
    { kind: 'p', seconds: 0.1 },
    { kind: 'unseen', seconds: 0.1 }
  ]);
});

test('a GPU has kernels below and copies above, and time until all was done', () => {
  const record = known({
    readings: [reading('wall_time', 0.2)],
    gpu_work: [work],
    asynchronous: true
  });
  const [gpu] = lanesOf(record);
  assert.deepEqual(
    gpu?.boxes.map(({ kind, bottom, top }) => [kind, bottom, top]),
    [
      ['copies', 0, 1],
      ['kernels', 0, 1]
    ]
  );
  assert.deepEqual(gpu.sums, [
    { kind: 'kernels', seconds: 0.2 },
    { kind: 'copies', seconds: 0.1 }
  ]);
  assert.equal(durationOf(record), 0.4);
});

test('a part of a lane knows the line, or the kernel, that ran most there', () => {
  const lines = { ran: '01 1', lines: [{ line: 4 }, { line: 7, cell: 2 }] };
  const gpu = { ...work, kernels: [{ name: 'gemm', count: 1, seconds: 0.2 }] };
  const record = known({
    readings: [reading('wall_time', 0.2)],
    host_lane: { ...host, ...lines },
    gpu_work: [{ ...gpu, lane: { ...lane, longest: '  0 ' } }]
  });
  const [cpu, device] = drawnLanesOf(record);
  assert.deepEqual(
    cpu?.boxes.map(({ line }) => line),
    [
      { line: 4, cell: null },
      { line: 7, cell: 2 },
      { line: 7, cell: 2 }
    ]
  );
  assert.deepEqual(
    device?.boxes.map(({ kernel }) => kernel),
    [undefined, 'gemm', undefined]
  );
});

test('ten GPUs are drawn as one lane that tells of each, and keep their sums', () => {
  const half = { ...lane, kernels: '9900', copies: '0000' };
  const full = { ...lane, kernels: '9999', copies: '0000' };
  const devices = Array.from({ length: 10 }, (_, number) => ({
    ...work,
    device: `gpu:${number}`,
    lane: number < 5 ? half : full
  }));
  const record = known({ readings: [reading('wall_time', 0.2)], gpu_work: devices });
  const [gpus, ...others] = drawnLanesOf(record);
  assert.deepEqual(others, []);
  assert.deepEqual(
    gpus?.boxes.map(({ from, to, top }) => [from, to, top]),
    [
      [0, 0.2, 1],
      [0.2, 0.4, 0.5]
    ]
  );
  assert.deepEqual(gpus.boxes[1]?.each?.slice(4, 6), [
    { device: 'gpu:4', share: 0 },
    { device: 'gpu:5', share: 1 }
  ]);
  assert.equal(lanesOf(record).length, 10);
});

test('the lane of a GPU that is at work ends where its records do', () => {
  const strip = readStripSoFar({
    sequence: 3,
    seconds: 1,
    host: null,
    gpus: [{ device: 'gpu:0', lane }]
  });
  assert(strip !== null);
  assert.equal(lanesSoFar(strip)[0]?.until, 0.4);
});

test('a record without lanes has no strip, nor has one whose lanes are rubbish', () => {
  assert.deepEqual(lanesOf(known({})), []);
  const rubbish = { seconds: 'x', did: 7, spent: [{ did: 'zz', seconds: -1 }, null] };
  assert.deepEqual(lanesOf(known({ host_lane: rubbish })), []);
  const gpus = [{ device: 'gpu:0', lane: { kernels: 'zz', copies: null } }];
  const [gpu] = lanesOf(known({ gpu_work: gpus }));
  assert.deepEqual(gpu?.boxes, []);
});

test('a lane that is not known says so', () => {
  const ran_on = [{ framework: 'torch', device: 'gpu:0', kind: 'mps' }];
  const wall = reading('wall_time', 0.2);
  const counted = { ...reading('device_time', 0.1), scope: 'process' };
  assert.equal(notDrawn(known({ gpu_work: [work] })), 'stripNoCpu');
  assert.equal(notDrawn(known({ readings: [wall], host_lane: host })), null);
  const device = { ran_on };
  assert.equal(notDrawn(known({ readings: [wall, counted], host_lane: host })), 'stripCoarse');
  assert.equal(notDrawn(known({ readings: [wall], host_lane: host, device })), 'stripNoGpu');
});
