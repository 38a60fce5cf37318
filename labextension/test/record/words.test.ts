import assert from 'node:assert/strict';
import { test } from 'node:test';

import { translator } from '../../src/language/i18n';
import { readRecord, type IRecord } from '../../src/record/record';
import { recordJson } from '../records';

const english = translator(null);

function known(changes: object): IRecord {
  const record = readRecord(recordJson(1, changes));
  assert(typeof record !== 'string');
  return record;
}

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
