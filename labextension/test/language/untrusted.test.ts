import assert from 'node:assert/strict';
import { test } from 'node:test';

import { count, named, or, orEmpty, shape, text, word } from '../../src/language/untrusted';

const readCell = shape(
  { name: word, runs: count },
  { whyMissing: text, kind: or('', text), own: named('other', text) }
);

test('a table is read field by field, under the names that it has there', () => {
  const data = { name: 'fit', runs: 2, why_missing: 'why', other: 'o', more: 1 };
  assert.deepEqual(readCell(data), {
    name: 'fit',
    runs: 2,
    whyMissing: 'why',
    kind: '',
    own: 'o'
  });
});

test('what cannot be read is missing where it may be, and no table where it may not', () => {
  const cell = readCell({ name: 'fit', runs: 0, why_missing: 7, kind: {} });
  assert.deepEqual(cell, {
    name: 'fit',
    runs: 0,
    whyMissing: null,
    kind: '',
    own: null
  });
  for (const rubbish of [
    null,
    7,
    'text',
    [],
    {},
    { name: '', runs: 1 },
    { name: 'fit', runs: -1 }
  ]) {
    assert.equal(readCell(rubbish), null);
  }
});

test('a table that needs nothing is read of anything', () => {
  const read = orEmpty(shape({}, { kind: or('none', text) }));
  assert.deepEqual(read('rubbish'), { kind: 'none' });
  assert.deepEqual(read({ kind: 'k' }), { kind: 'k' });
});
