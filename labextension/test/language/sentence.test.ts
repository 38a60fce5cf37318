import assert from 'node:assert/strict';
import { test } from 'node:test';

import { translator } from '../../src/language/i18n';
import { sentence } from '../../src/language/sentence';

const english = translator(null);

/** As the Python side writes a sentence. */
const told = (template: string, fields: object = {}, more: object = {}): object => ({
  text: 'What it says in English.',
  template,
  fields,
  ...more
});

const said = (data: unknown): string | null => {
  const read = sentence(data);
  return read === null ? null : english.say(read);
};

test('a template is said with its texts, its numbers and its sentences in their places', () => {
  const inner = told('{bytes} of weights', { bytes: '1.5 GB' });
  assert.equal(
    said(
      told('{device} copied {inner} in {count} parts.', { device: 'gpu:0', inner, count: 12_345 })
    ),
    'gpu:0 copied 1.5 GB of weights in 12,345 parts.'
  );
});

test('one thing is said in the singular, and several, or none, in the plural', () => {
  const runs = (count: number): string | null =>
    said(told('{count} run', { count }, { plural: '{count} runs' }));
  assert.deepEqual([0, 1, 2].map(runs), ['0 runs', '1 run', '2 runs']);
});

test('a text is said as it stands, braces and all', () => {
  assert.equal(said('x = {name}'), 'x = {name}');
  assert.equal(said(told('{x} and {y}', { x: '{y} $& <b>' })), '{y} $& <b> and {y}');
  assert.equal(said(told('{constructor}')), '{constructor}');
});

test('characters that hide are written out, in the template and in its fields', () => {
  assert.equal(said(told('a\u202e {b}', { b: 'c\0' })), 'a\\u202e c\\u0000');
  assert.equal(said('a\u202e'), 'a\\u202e');
});

test('what is no sentence is none', () => {
  for (const rubbish of [null, undefined, 7, true, [], {}, ['a'], { text: 7 }, { fields: {} }]) {
    assert.equal(sentence(rubbish), null);
  }
});

test('a table that is not as ours are is no more than its text', () => {
  const nested = (depth: number): object =>
    depth === 0 ? told('end') : told('{a}', { a: nested(depth - 1) });
  const many = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`f${index}`, 'x']));
  const long = 'x'.repeat(8_000);
  for (const data of [
    told(`${long}.`),
    told('{a}{a}', { a: long }),
    told('{a}', { a: 'x' }, { plural: `${long}{a}` }),
    told('many', many),
    nested(6),
    told('{a}', { a: 1.5 }),
    told('{a}', { a: null }),
    told('{a}', { a: ['x'] }),
    told('{a}', { a: { text: 'no template' } })
  ]) {
    assert.equal(said(data), 'What it says in English.');
  }
  assert.equal(said(nested(5)), 'end');
  assert.equal(said(told('{a}', { a: long })), long);
});

test('a text of a million letters is cut', () => {
  const read = said('x'.repeat(1_000_000));
  assert(read !== null && read.length < 3_000);
});

test('fields that say nothing, in fields that say nothing, are looked at once each', () => {
  const often = '{a}'.repeat(2_000);
  let data = told('');
  for (let depth = 0; depth < 5; depth++) {
    data = told(often, { a: data });
  }
  const before = performance.now();
  assert.equal(said(data), '');
  assert(performance.now() - before < 1_000);
});
