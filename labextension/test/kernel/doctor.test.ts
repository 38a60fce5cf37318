import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readDoctor } from '../../src/kernel/messages';
import { KernelModel } from '../../src/kernel/model';
import { readDelta, readSnapshot } from '../../src/kernel/protocol';
import { deltaJson, snapshotJson } from '../records';

const finding = {
  id: 'pip-too-old',
  title: 'pip is too old',
  evidence: 'It is 19.0.',
  remedy: 'python -m pip install --upgrade pip',
  confidence: 'sure'
};
const found = {
  head: 'One of 40 checks found a problem.',
  findings: [finding],
  more: 0
};

test('what the doctor found is read, causes first', () => {
  const doctor = readDoctor({ asking: false, found, problem: null });
  assert.deepEqual(doctor, { asking: false, found, problem: null });
});

test('what is no diagnosis is none, and texts are bounded', () => {
  for (const rubbish of [null, 7, 'text', []]) {
    assert.equal(readDoctor(rubbish), null);
  }
  assert.equal(readDoctor({ found: { findings: [finding] } })?.found, null);
  const long = 'x'.repeat(1_000_000);
  const findings = Array.from({ length: 5_000 }, () => ({
    ...finding,
    title: long,
    evidence: long
  }));
  const doctor = readDoctor({ found: { head: long, findings }, problem: long });
  assert(JSON.stringify(doctor).length < 400_000);
  const strange = readDoctor({
    found: { head: 'h', findings: [{ ...finding, confidence: 'x' }, 7] }
  });
  assert.equal(strange?.found?.findings.length, 1);
  assert.equal(strange.found.findings[0]?.confidence, null);
});

test('characters that one does not see are written out', () => {
  const doctor = readDoctor({
    found: { ...found, findings: [{ ...finding, remedy: 'rm \u202Ex' }] }
  });
  assert.equal(doctor?.found?.findings[0]?.remedy, 'rm \\u202ex');
});

test('the model knows what a snapshot and an event told of the doctor', () => {
  const model = new KernelModel();
  const snapshot = readSnapshot({ ...snapshotJson(1, []), doctor: { asking: true } });
  assert(snapshot !== null);
  model.applySnapshot(snapshot);
  assert.equal(model.state.doctor?.asking, true);
  const delta = readDelta(deltaJson(2, [{ type: 'doctor', doctor: { asking: false, found } }]));
  assert(delta !== null);
  model.applyDelta(delta);
  assert.equal(model.state.doctor.found?.findings[0]?.id, 'pip-too-old');
  assert.equal(model.state.doctor.asking, false);
});
