/** A text that is too long begins with whole sentences, or with whole words. */

import assert from 'node:assert/strict';
import test from 'node:test';

import { opening } from '../../src/language/prose.js';

test('a text that fits is told whole', () => {
  assert.equal(opening('It is done. All of it.', 22), 'It is done. All of it.');
});

test('of a longer one as many whole sentences are told as fit', () => {
  assert.equal(
    opening('It is done. See version 1.2. Then go on with the next.', 40),
    'It is done. See version 1.2.'
  );
  assert.equal(opening('此笔记本未受信任。因此没有运行任何内容。', 12), '此笔记本未受信任。');
});

test('of a long sentence whole words are told', () => {
  assert.equal(opening('This sentence is too long', 20), 'This sentence is…');
});
