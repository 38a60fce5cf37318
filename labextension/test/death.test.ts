import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readKernelExit, type IKernelExit } from '../src/kernel/kernelexit';
import { KernelModel } from '../src/kernel/model';
import { readSnapshot } from '../src/kernel/protocol';
import { logJson, snapshotJson } from './records';

const SENTENCE = {
  text: 'The kernel died in [7] after 12 s: likely out of memory.',
  template: 'The kernel died {place}: likely {cause}.',
  fields: {
    place: 'in [7] after 12 s',
    cause: { text: 'out of memory', template: 'out of memory' }
  }
};

function death(changes: object = {}): IKernelExit | null {
  const told = {
    cause: 'machine_memory',
    confidence: 'likely',
    sentence: SENTENCE,
    next: 'Use less.'
  };
  return readKernelExit({
    death: { ...told, lines: [logJson('F x.cc:1] Check failed')], ...changes }
  });
}

test('a death is read with its sentence, what to do, and its last lines', () => {
  const read = death();
  assert(read);
  assert.equal(read.confidence, 'likely');
  assert.equal(read.next, 'Use less.');
  assert.equal(read.lines[0]?.text, 'F x.cc:1] Check failed');
});

test('an answer of nothing, or of something else, is no death', () => {
  for (const answer of [null, {}, { death: null }, { death: 'x' }, { death: { next: 'a' } }, []]) {
    assert.equal(readKernelExit(answer), null);
  }
});

test('a certainty that is none of ours counts as open', () => {
  assert.equal(death({ confidence: 'absolutely' })?.confidence, 'open');
});

test('what a kernel died of stays while its successor is not traced', () => {
  const model = new KernelModel();
  model.restart();
  model.setExit(death());
  model.setKernel('absent');
  assert(model.state.exit);
  assert.equal(model.state.restarted, true);
});

test('what a kernel died of is gone when its successor has run a cell, or there is none', () => {
  const model = new KernelModel();
  model.restart();
  model.setExit(death());
  const [fresh, ran] = [readSnapshot(snapshotJson(1, [])), readSnapshot(snapshotJson(2, [1]))];
  assert(fresh && ran);
  model.applySnapshot(fresh);
  assert(model.state.exit, 'a successor that is traced at once has told nothing yet');
  model.applySnapshot(ran);
  assert.equal(model.state.exit, null);
  model.setExit(death());
  assert.equal(model.state.exit, null, 'an answer that comes late is no news');
  model.restart();
  model.setExit(death());
  model.setKernel('none');
  assert.equal(model.state.exit, null);
});
