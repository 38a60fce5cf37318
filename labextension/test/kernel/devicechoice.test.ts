import assert from 'node:assert/strict';
import { test } from 'node:test';

import { picks } from '../../src/kernel/devicechoice';
import { readSnapshot } from '../../src/kernel/protocol';
import type { ISnapshot } from '../../src/kernel/protocol';
import { snapshotJson } from '../records';

function told(device: object, choices: object | null = null): ISnapshot {
  const snapshot = readSnapshot(
    snapshotJson(1, [], { device: { requested: {}, available: null, ...device }, choices })
  );
  assert(snapshot);
  return snapshot;
}

const onDevice = (framework: string, device: string): object => ({
  framework,
  device,
  kind: device.slice(0, 3),
  native_name: device
});

const wish = (word: string, framework: string | null): object => ({
  device: { word, framework },
  trace: null,
  said: null
});

const words = ({ device, choices }: ISnapshot): string[][] =>
  picks(device, choices).map(pick => pick.words.map(({ word }) => word));

const chosen = ({ device, choices }: ISnapshot): (string | null)[] =>
  picks(device, choices).map(pick => pick.chosen);

test('before a framework is imported only a processor is sure to be there', () => {
  assert.deepEqual(words(told({})), [['any', 'cpu']]);
  assert.deepEqual(chosen(told({})), [null]);
  assert.deepEqual(chosen(told({ requested: { '*': 'cpu' } })), ['cpu']);
});

test('of an imported framework a GPU can be asked for, though none is known', () => {
  const frameworks = [{ name: 'torch', versions: { torch: '2.13' } }];
  assert.deepEqual(words(told({ frameworks })), [['any', 'cpu', 'gpu']]);
  const available = [onDevice('torch', 'cpu:0')];
  assert.deepEqual(words(told({ frameworks, available })), [['any', 'cpu:0', 'gpu']]);
  const more = [...available, onDevice('torch', 'gpu:0')];
  assert.deepEqual(words(told({ frameworks, available: more })), [['any', 'cpu:0', 'gpu:0']]);
});

test('several frameworks have a control each', () => {
  const known = told({
    available: [
      onDevice('tensorflow', 'cpu:0'),
      onDevice('torch', 'cpu:0'),
      onDevice('torch', 'gpu:0')
    ],
    frameworks: [{ name: 'tensorflow' }, { name: 'torch' }],
    asked: { torch: 'gpu' },
    chosen: { torch: 'gpu:0' }
  });
  assert.deepEqual(
    picks(known.device, known.choices).map(({ name }) => name),
    ['TensorFlow', 'PyTorch']
  );
  assert.deepEqual(chosen(known), [null, 'gpu:0']);
});

test('what is wished for is shown as chosen, for all frameworks or for its own', () => {
  const device = {
    available: [onDevice('jax', 'cpu:0'), onDevice('torch', 'cpu:0')],
    frameworks: [{ name: 'jax' }, { name: 'torch' }]
  };
  assert.deepEqual(chosen(told(device, wish('cpu:0', 'torch'))), [null, 'cpu:0']);
  assert.deepEqual(chosen(told(device, wish('any', null))), ['any', 'any']);
});

test('any stays any, and a word that is in no list is shown all the same', () => {
  const available = [onDevice('torch', 'cpu:0')];
  const asked = { torch: 'any' };
  assert.deepEqual(chosen(told({ available, asked, chosen: { torch: 'cpu:0' } })), ['any']);
  const waiting = told({ requested: { '*': 'gpu:3' } });
  assert.deepEqual(words(waiting), [['any', 'cpu', 'gpu:3']]);
});

test('hostile lists are cut', () => {
  const available = Array.from({ length: 10_000 }, (_, n) =>
    onDevice('x'.repeat(1000), `gpu:${n}`)
  );
  assert(words(told({ available })).flat().length < 100);
});
