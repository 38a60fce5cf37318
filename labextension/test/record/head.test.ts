import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { translator } from '../../src/language/i18n';
import { formatValue } from '../../src/record/format';
import { factsOf, figuresOf, messagesOf } from '../../src/record/head';
import { readRecord, type IRecord } from '../../src/record/record';
import { recordJson } from '../records';

/** What Python says of each of forty records: tests/show/forty_records.py. */
interface IShown {
  name: string;
  data: object;
  /** The text beside it. */
  plain: string;
  label: string;
  line: string;
  messages: string[];
  folded: boolean;
  /** Quantity, unit, value, and the value in words. */
  figures: [string, string, number, string][];
}

const SHOWN = JSON.parse(readFileSync('../tests/data/words/records.json', 'utf-8')) as IShown[];

const english = translator(null);

function known(data: object, plain?: unknown): IRecord {
  const record = readRecord(data, plain);
  assert(typeof record !== 'string');
  return record;
}

test('forty records are in the words that Python has for them', () => {
  assert.equal(SHOWN.length, 40);
  for (const { name, data, plain, label, line, messages, folded } of SHOWN) {
    const record = known(data, plain);
    if (!('head' in data)) {
      const [all = ''] = plain.replace('[mlgpu] ', '').split('\n');
      assert.equal(figuresOf(record, english).join(' · '), all, name);
      continue;
    }
    assert.equal(english.say(record.head.label), label, name);
    assert.equal(figuresOf(record, english).join(' · '), line, name);
    assert.equal(messagesOf(record, english), messages.join(' · '), name);
    assert.equal(record.head.folded, folded, name);
  }
});

test('their figures are written as Python writes them', () => {
  for (const { name, figures } of SHOWN) {
    for (const [quantity, unit, value, words] of figures) {
      assert.equal(formatValue(value, unit), words, `${name}: ${quantity}`);
    }
  }
});

test('a figure of a later version is shown as well', () => {
  const figures = { time: '3 s', temperature: '81 °C' };
  const record = known(recordJson(1, { head: { figures } }));
  assert.equal(figuresOf(record, english).join(' · '), '3 s · 81 °C');
  assert.equal(factsOf(record, english), '81 °C');
});

test('a head is said in the reader’s language', () => {
  const chinese = translator({
    language: 'zh_CN',
    messages: new Map([['peak memory {memory}', ['峰值内存 {memory}']]])
  });
  const [first] = SHOWN;
  assert(first);
  assert.equal(figuresOf(known(first.data), chinese).at(-1), '峰值内存 512 MiB');
});

test('a receipt that was saved without a head says the first line of its text', () => {
  const saved = recordJson(1, { head: undefined });
  const plain = '[mlgpu] error: 3 s · ran on cpu:0\n        Memory grows.';
  assert.deepEqual(figuresOf(known(saved, plain), english), ['error: 3 s', 'ran on cpu:0']);
  assert.equal(factsOf(known(saved, plain), english), 'ran on cpu:0');
  assert.deepEqual(figuresOf(known(saved, plain.split('\n')), english), [
    'error: 3 s',
    'ran on cpu:0'
  ]);
  for (const nothing of [undefined, null, 7, '', []]) {
    assert.deepEqual(figuresOf(known(saved, nothing), english), ['finished']);
  }
});

test('what a list shows already is not said again, but for a time with the profiler on', () => {
  const figures = { time: '3 s', where: 'ran on gpu:0' };
  const head = { figures, messages: ['2 messages'], label: 'error' };
  const said = (changes: object): string => factsOf(known(recordJson(1, changes)), english);
  assert.equal(said({ head }), 'error · ran on gpu:0 · 2 messages');
  assert.match(said({ head, mode: 'profiled' }), /^error · 3 s · ran on gpu:0/);
});

test('of a head that nobody vouches for the parts that can be read are said', () => {
  const figures = { time: 7, gpu: ['x'], limit: { template: 3 }, memory: 'a\u202eb' };
  const head = { figures, folded: 'yes' };
  const record = known(recordJson(1, { head: { ...head, messages: 'many' } }));
  assert.deepEqual(figuresOf(record, english), ['a\\u202eb']);
  assert.deepEqual([record.head.messages, record.head.folded], [[], false]);
  const long = known(recordJson(1, { head: { figures: { time: 'x'.repeat(1_000_000) } } }));
  assert((figuresOf(long, english)[0] ?? '').length <= 600);
  for (const stored of ['{', '7', '[]', '"x"', `{"figures":{"time":"${'x'.repeat(1_000_000)}"}}`]) {
    assert.deepEqual(figuresOf(known(recordJson(1, { head: stored })), english), ['finished']);
  }
});
