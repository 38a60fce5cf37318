import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  changeName,
  ratioInWords,
  readComparison,
  spreadInWords
} from '../../src/record/comparison';
import { translator } from '../../src/language/i18n';

const t = translator(null);

const change = {
  quantity: 'wall_time',
  more: '',
  unit: 's',
  first: { median: 1, low: 0.9, high: 1.1, runs: 5 },
  second: { median: 2, low: 2, high: 2, runs: 1 },
  ratio: { value: 2.0123, low: 1.8, high: 2.2, coverage: 0.97 },
  judgement: 'more',
  why_not: null
};

function answer(changes: unknown[], more: object = {}): object {
  return { comparison: { pairs: [{ name: 'x', changes, operations: [], notes: [], ...more }] } };
}

test('a comparison is read with its spreads, its ratio and its judgement', () => {
  const [pair] = readComparison(answer([change], { notes: ['Ran on: cpu:0 and gpu:0.'] })) ?? [];
  assert.deepEqual(pair?.notes, ['Ran on: cpu:0 and gpu:0.']);
  const [read] = pair.changes;
  assert(read?.first && read.second && read.ratio);
  assert.deepEqual(spreadInWords(read.first, read.unit, t), ['1 s', '900 ms to 1.1 s, 5 runs']);
  assert.deepEqual(spreadInWords(read.second, read.unit, t), ['2 s', '1 run']);
  assert.equal(ratioInWords(read.ratio, t), '× 2.01 (1.8 to 2.2)');
  assert.equal(read.judgement, 'more');
});

test('a row is named by its quantity and source, or by its operation', () => {
  const names = [
    { quantity: 'energy', more: ', NVML counter' },
    { quantity: 'device_time', more: ' (profiled)' },
    { quantity: null, more: 'MatMul (device)' }
  ].map(one => changeName({ ...change, ...one, judgement: 'more', whyNot: null }, t));
  assert.deepEqual(names, ['Energy, NVML counter', 'Device time (profiled)', 'MatMul (device)']);
});

test('what was not measured on a side is no zero', () => {
  const bad = { ...change, second: null, ratio: null, judgement: 'cannot judge', why_not: 'why' };
  const [read] = readComparison(answer([bad]))?.[0]?.changes ?? [];
  assert.equal(read?.second, null);
  assert.equal(read.whyNot, 'why');
});

test('what is no comparison is not taken for one, and what is in it is bounded', () => {
  assert.equal(readComparison(null), null);
  assert.equal(readComparison({ comparison: 'yes' }), null);
  assert.deepEqual(readComparison({ comparison: { pairs: [3, null] } }), []);
  const hostile = {
    ...change,
    more: '\u202e'.repeat(9_999),
    first: { median: '1' },
    judgement: 'more'
  };
  const [read, none] =
    readComparison(answer([hostile, { ...change, judgement: 'won' }]))?.[0]?.changes ?? [];
  assert.equal(none, undefined);
  assert.equal(read?.first, null);
  assert(!t.say(read.more).includes('\u202e'));
  assert.equal(readComparison(answer(Array(9_999).fill(change)))?.[0]?.changes.length, 64);
});
