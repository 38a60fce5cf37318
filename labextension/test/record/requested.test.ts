import assert from 'node:assert/strict';
import { test } from 'node:test';

import { inWords, readRequested } from '../../src/record/requested';

test('devices asked for are read from a table, and from the text of earlier records', () => {
  const both: [string | null, object][] = [
    [null, {}],
    ['cpu:0', { '*': 'cpu:0' }],
    ['gpu', { '*': 'gpu' }],
    ['jax cpu:1', { jax: 'cpu:1' }],
    ['torch gpu:0, jax cpu:0', { torch: 'gpu:0', jax: 'cpu:0' }],
    ['cpu, torch gpu', { '*': 'cpu', torch: 'gpu' }]
  ];
  for (const [earlier, table] of both) {
    assert.deepEqual(readRequested(earlier), readRequested(table));
    assert.deepEqual(Object.fromEntries(readRequested(table)), table);
    assert.equal(inWords(readRequested(table)), earlier ?? '');
  }
});

test('what is no device is left out, and what is long is cut', () => {
  for (const rubbish of [undefined, 7, ['cpu'], { torch: 7 }]) {
    assert.deepEqual(readRequested(rubbish), []);
  }
  assert(JSON.stringify(readRequested('x'.repeat(1_000_000))).length < 500);
  assert(JSON.stringify(readRequested({ ['x'.repeat(1_000_000)]: 'cpu' })).length < 500);
});
