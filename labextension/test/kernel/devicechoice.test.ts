import assert from 'node:assert/strict';
import { test } from 'node:test';

import { choiceName, picks } from '../../src/kernel/devicechoice';
import { readSnapshot, type ISnapshot } from '../../src/kernel/protocol';
import { translator } from '../../src/language/i18n';
import { snapshotJson } from '../records';

const AUTOMATIC = { word: 'auto', about: 'each framework chooses its own device' };

function told(device: object | null, choices: object | null = null): ISnapshot {
  const snapshot = readSnapshot(snapshotJson(1, [], { device, choices }));
  assert(snapshot);
  return snapshot;
}

const picker = (framework: string | null, chosen: string, ...words: string[]): object => ({
  framework,
  chosen,
  words: [AUTOMATIC, ...words.map(word => ({ word, about: null }))],
  missing: ['No GPU is known.']
});

const wish = (word: string, framework: string | null): object => ({
  device: { word, framework },
  trace: null,
  said: null
});

const words = ({ device, choices }: ISnapshot): string[][] =>
  picks(device, choices).map(pick => pick.words.map(({ word }) => word));

const chosen = ({ device, choices }: ISnapshot): string[] =>
  picks(device, choices).map(pick => pick.chosen);

test('the controls are those that the kernel offers, with why others are missing', () => {
  const known = told({ pickers: [picker(null, 'auto', 'cpu')] });
  assert.deepEqual(words(known), [['auto', 'cpu']]);
  assert.deepEqual(chosen(known), ['auto']);
  assert.deepEqual(picks(known.device, null)[0]?.missing, ['No GPU is known.']);
});

test('several frameworks have a control each, under their own names', () => {
  const known = told({
    pickers: [picker('tensorflow', 'auto', 'cpu:0'), picker('torch', 'gpu:0', 'cpu:0', 'gpu:0')]
  });
  assert.deepEqual(
    picks(known.device, known.choices).map(({ name }) => name),
    ['TensorFlow', 'PyTorch']
  );
  assert.deepEqual(chosen(known), ['auto', 'gpu:0']);
});

test('what is wished for is shown as chosen, for all frameworks or for its own', () => {
  const device = { pickers: [picker('jax', 'cpu:0', 'cpu:0'), picker('torch', 'auto', 'cpu:0')] };
  assert.deepEqual(chosen(told(device, wish('cpu:0', 'torch'))), ['cpu:0', 'cpu:0']);
  assert.deepEqual(chosen(told(device, wish('auto', null))), ['auto', 'auto']);
  assert.deepEqual(words(told(device, wish('gpu', 'torch'))), [
    ['auto', 'cpu:0'],
    ['auto', 'cpu:0', 'gpu']
  ]);
});

test('before a kernel has told its devices nothing can be chosen, and nothing was', () => {
  assert.deepEqual(words(told(null)), [['auto']]);
  assert.deepEqual(chosen(told({ pickers: [] })), ['auto']);
});

test('a choice is named with its hardware, and no choice is Automatic', () => {
  const t = translator(null);
  assert.equal(choiceName({ word: 'gpu:0', about: 'NVIDIA H100' }, t), 'gpu:0 · NVIDIA H100');
  assert.equal(choiceName({ word: 'cpu', about: null }, t), 'cpu');
  assert.equal(
    choiceName({ word: 'auto', about: 'each framework chooses its own device' }, t),
    'Automatic · each framework chooses its own device'
  );
});

test('hostile lists are cut', () => {
  const many = Array.from({ length: 10_000 }, (_, n) => `gpu:${n}${'x'.repeat(1000)}`);
  assert(words(told({ pickers: [picker(null, 'auto', ...many)] })).flat().length < 200);
});
