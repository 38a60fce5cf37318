import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  allOf,
  amount,
  anyOf,
  count,
  newestOf,
  notEmpty,
  or,
  placesOf,
  rowOf,
  shape,
  text,
  textIn,
  tupleOf,
  upTo
} from '../../src/language/untrusted';

const readPair = tupleOf<[number, string]>(1, count, or('', text));

test('a list of different things is read by their places', () => {
  assert.deepEqual(readPair([3, 'three', 'more']), [3, 'three']);
  assert.deepEqual(readPair([3]), [3, '']);
  for (const rubbish of [[], ['three', 3], [null, 'three'], { 0: 3 }, 'text', null]) {
    assert.equal(readPair(rubbish), null);
  }
});

test('its items can have names, and what is not needed may be unknown', () => {
  const read = rowOf({ at: count }, { high: count });
  assert.deepEqual(read([3, 4]), { at: 3, high: 4 });
  assert.deepEqual(read([3, 'high']), { at: 3, high: null });
  assert.equal(read(['at', 4]), null);
  assert.equal(read(7), null);
});

test('items keep their places, the last ones are kept, or all of them count', () => {
  assert.deepEqual(placesOf(amount, 3)([1, NaN, 3, 4]), [1, null, 3]);
  assert.equal(placesOf(amount)('text'), null);
  assert.deepEqual(newestOf(count, 2)([1, 2, 3]), [2, 3]);
  assert.equal(newestOf(count, 2)({ length: 3 }), null);
  assert.deepEqual(allOf(count, 2)([1, 2]), [1, 2]);
  for (const broken of [[1, 'x'], [1, 2, 3], null]) {
    assert.equal(allOf(count, 2)(broken), null);
  }
});

test('numbers end where they may, texts are cut, and nothing is not something', () => {
  assert.deepEqual([10, 10.5, -1, Infinity, '7'].map(upTo(10)), [10, null, null, null, null]);
  assert.equal(textIn(4)('123456'), '123…');
  assert.equal(notEmpty(text)(''), null);
});

test('what is one of several things is the first that it can be', () => {
  const read = anyOf<number | { n: number }>(count, shape({ n: count }, {}));
  assert.deepEqual(
    [3, { n: 4 }, 'text', { n: 'x' }].map(one => read(one)),
    [3, { n: 4 }, null, null]
  );
});
