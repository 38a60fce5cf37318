import assert from 'node:assert/strict';
import { test } from 'node:test';

import { fitted } from '../../src/page/fitting';

const LONG = 'bert_encoder_layer_11_attention';

/** Letters of ten points, `W` of twenty. */
const widthOf = (text: string): number => 10 * (text.length + (text.match(/W/g)?.length ?? 0));

test('a name that fits stays whole', () => {
  assert.equal(fitted('Relu', 40, widthOf), 'Relu');
  assert.equal(fitted('', 40, widthOf), '');
  assert.equal(fitted('i'.repeat(100), 1000, widthOf), 'i'.repeat(100));
});

test('a longer one is shortened in the middle, and keeps more of its end', () => {
  assert.equal(fitted(LONG, 200, widthOf), 'bert_e…_11_attention');
  assert.equal(fitted('i'.repeat(100), 50, widthOf), 'i…iii');
});

test('wide letters are fewer', () => {
  assert.equal(fitted('W'.repeat(30), 200, widthOf), 'WWW…WWWWWW');
});

test('no half of a character is left', () => {
  assert.equal(fitted('😀'.repeat(30), 110, widthOf), '😀…😀😀😀😀');
});

test('where nothing fits there is an ellipsis', () => {
  assert.equal(fitted(LONG, 5, widthOf), '…');
});
