import assert from 'node:assert/strict';
import { test } from 'node:test';

import { inWords } from '../../src/record/requested';
import { readDeviceUse } from '../../src/record/wire';

test('devices asked for are told by framework, and one for all of them alone', () => {
  const both: [string, object][] = [
    ['', {}],
    ['cpu:0', { '*': 'cpu:0' }],
    ['jax cpu:1', { jax: 'cpu:1' }],
    ['torch gpu:0, jax cpu:0', { torch: 'gpu:0', jax: 'cpu:0' }],
    ['cpu, torch gpu', { '*': 'cpu', torch: 'gpu' }]
  ];
  for (const [said, requested] of both) {
    assert.equal(inWords(readDeviceUse({ requested })?.requested ?? []), said);
  }
});

test('what is no device is left out, and what is long is cut', () => {
  for (const requested of [undefined, 7, 'cpu', ['cpu'], { torch: 7 }]) {
    assert.deepEqual(readDeviceUse({ requested })?.requested, []);
  }
  const long = readDeviceUse({ requested: { ['x'.repeat(1_000_000)]: 'cpu' } });
  assert(JSON.stringify(long).length < 500);
});
