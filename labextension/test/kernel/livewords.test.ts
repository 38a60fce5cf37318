/** The line under a running cell says what is known of it now, and nothing that was known some time ago. */

import assert from 'node:assert/strict';
import test from 'node:test';

import type { ICounters, ISeries } from '../../src/kernel/counters.js';
import { liveWords } from '../../src/kernel/livewords.js';
import { translator } from '../../src/language/i18n.js';

const t = translator(null);
const MIB = 1024 ** 2;

function series(device: string, quantity: string, unit: string): ISeries {
  return { device, quantity, unit, source: 'test', limit: null, whyMissing: null };
}

function counters(gauges: [ISeries, number | null][], changes: object = {}): ICounters {
  return {
    series: gauges.map(([one]) => one),
    samples: [{ t: 10, values: gauges.map(([, value]) => value) }],
    interval: 0.5,
    sampled: '2026-01-01T00:00:00Z',
    zero: 0,
    whyStopped: null,
    strip: null,
    ...changes
  };
}

const PROCESS: [ISeries, number | null][] = [
  [series('machine', 'utilisation', 'share'), 0.9],
  [series('process', 'utilisation', 'cores'), 2.04],
  [series('process', 'memory', 'bytes'), 849 * MIB]
];
const GPU = (number: number, share: number | null): [ISeries, number | null] => [
  series(`GPU ${number} (NVIDIA H200)`, 'utilisation', 'share'),
  share
];

test('the clock, the process and the GPU by its short name', () => {
  const known = counters([...PROCESS, GPU(0, 0.94)]);
  assert.equal(liveWords(6, null, known, 10_000, t), '6.0 s · 2.0 cores · 849 MiB · gpu:0 94 %');
});

test('the time of the last run stands beside the clock, and after it when it has passed', () => {
  const words = (seconds: number, last: number): string =>
    liveWords(seconds, last, counters([]), 10_000, t);
  assert.equal(words(3.1, 12.3), '3.1 s of about 12 s (last time)');
  assert.equal(words(14, 12.3), '14.0 s (12 s last time)');
  assert.equal(words(1.2, 0.0034), '1.2 s (3.4 ms last time)');
  assert.equal(words(100, 754), '1 min 40 s of about 12 min 30 s (last time)');
});

test('of many GPUs the two that do most, in their order', () => {
  const known = counters([GPU(0, 0.1), GPU(1, 0.9), GPU(2, 0.5)]);
  assert.equal(liveWords(6, null, known, 10_000, t), '6.0 s · gpu:1 90 % · gpu:2 50 %');
});

test('a GPU that tells its power alone is told by that', () => {
  const known = counters([
    [series('GPU', 'utilisation', 'share'), null],
    [series('GPU', 'power', 'W'), 12]
  ]);
  assert.equal(liveWords(6, null, known, 10_000, t), '6.0 s · gpu:0 12 W');
});

test('what is not known is left out, and so is what came long ago or from an earlier watch', () => {
  assert.equal(liveWords(6, null, counters([GPU(0, null)]), 10_000, t), '6.0 s');
  assert.equal(liveWords(6, null, counters(PROCESS), 14_000, t), '6.0 s');
  assert.equal(liveWords(6, null, counters(PROCESS, { sampled: null }), 10_000, t), '6.0 s');
  assert.equal(
    liveWords(6, null, counters(PROCESS, { whyStopped: 'resting' }), 10_000, t),
    '6.0 s'
  );
});
