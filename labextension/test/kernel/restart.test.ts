import assert from 'node:assert/strict';
import { test } from 'node:test';

import { preparation, readRestartHint } from '../../src/kernel/restart';

const HINT = { sentence: 'It was read already.', by_hand: 'Restart.', verbose: 'on' };

test('a hint is read with its sentences and what the fresh kernel gets', () => {
  assert.deepEqual(readRestartHint(HINT), {
    sentence: 'It was read already.',
    byHand: 'Restart.',
    verbose: 'on'
  });
  assert.equal(readRestartHint({ sentence: 'Why.' })?.verbose, null);
});

test('what has no sentence is no hint', () => {
  for (const rubbish of [null, undefined, 7, 'text', [], {}, { sentence: 7 }, { sentence: '' }]) {
    assert.equal(readRestartHint(rubbish), null);
  }
});

test('words that cannot be shown in one line as they are make it no hint', () => {
  const hostile = ['', 'on\nimport os', 'on\u202e', 'x'.repeat(201), 7, [], {}, true, 'ön', 'on\0'];
  for (const verbose of hostile) {
    assert.equal(readRestartHint({ ...HINT, verbose }), null, JSON.stringify(verbose));
  }
});

test('long and strange sentences are cut and written out', () => {
  const hint = readRestartHint({
    ...HINT,
    sentence: `a\u202eb${'x'.repeat(1_000_000)}`,
    by_hand: 7
  });
  assert(hint !== null);
  assert(typeof hint.sentence === 'string' && hint.sentence.length < 3_000);
  assert(hint.sentence.startsWith('a\\u202eb'));
  assert.equal(hint.byHand, '');
});

test('words stay one text in the code for the kernel, whatever is in them', () => {
  const code = preparation(String.raw`x"); import os; os.abort() #\"`);
  const words = /prepare\((?<words>.*)\)$/.exec(code)?.groups?.words ?? '';
  assert.equal(JSON.parse(words), String.raw`x"); import os; os.abort() #\"`);
});
