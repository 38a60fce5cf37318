import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { ICounters, ISample, ISeries } from '../../src/kernel/counters';
import {
  ago,
  extremes,
  gaugeName,
  gaugeValue,
  groups,
  points,
  rows,
  sampleAt,
  span,
  top
} from '../../src/kernel/gauges';
import { translator } from '../../src/language/i18n';

const t = translator(null);

function series(device: string, quantity: string, whyMissing: string | null = null): ISeries {
  return { device, quantity, unit: 'W', source: 'test', limit: null, whyMissing };
}

function counters(samples: ISample[], changes: Partial<ICounters> = {}): ICounters {
  return {
    series: [],
    samples,
    interval: 0.5,
    sampled: null,
    zero: 0,
    whyStopped: null,
    strip: null,
    ...changes
  };
}

const at = (time: number, ...values: (number | null)[]): ISample => ({ t: time, values });

test('series stand with their device, and keep their place in the samples', () => {
  const found = groups([series('a', 'power'), series('b', 'power'), series('a', 'memory')]);
  assert.deepEqual(
    found.map(({ device, gauges }) => [device, gauges.map(({ index }) => index)]),
    [
      ['a', [0, 2]],
      ['b', [1]]
    ]
  );
});

test('a reason that all of a device share stands once, others stand with their quantity', () => {
  const why = 'No driver.';
  assert.equal(
    groups([series('GPU', 'power', why), series('GPU', 'memory', why)])[0]?.whyMissing,
    why
  );
  assert.equal(groups([series('GPU', 'power', why), series('GPU', 'memory')])[0]?.whyMissing, null);
});

test('a line is broken where nobody looked and where nothing was known', () => {
  const known = counters([at(10, 1), at(10.5, null), at(11, 3), at(41, 4)]);
  assert.deepEqual(points(known, 0), [
    [-31, 1],
    [-30.5, null],
    [-30, 3],
    [-15, null],
    [0, 4]
  ]);
});

test('charts show one minute, two or five, and are not drawn on another scale with each sample', () => {
  assert.equal(span(counters([])), 60);
  assert.equal(span(counters([at(5, 1), at(65, 1)])), 60);
  assert.equal(span(counters([at(5, 1), at(65.5, 1)])), 120);
  assert.equal(span(counters([at(5, 1), at(205, 1)])), 300);
});

test('the crosshair has the sample at its time, and none in a gap', () => {
  const known = counters([at(10, 1), at(10.5, 2), at(40, 3)]);
  assert.equal(sampleAt(known, 0)?.values[0], 3);
  assert.equal(sampleAt(known, -29.6)?.values[0], 2);
  assert.equal(sampleAt(known, -29.9)?.values[0], 1);
  assert.equal(sampleAt(known, -15), null);
  assert.equal(sampleAt(counters([]), 0), null);
});

test('a time on the axis is told from now', () => {
  const words = (seconds: number): string => ago(seconds, t);
  assert.deepEqual([-60, -120, -300, -83, -0.4, 0].map(words), [
    '60 s ago',
    '2 min ago',
    '5 min ago',
    '1 min 23 s ago',
    'now',
    'now'
  ]);
});

test('curves have the names that people use', () => {
  const names = (device: string): string[] =>
    ['utilisation', 'memory', 'power'].map(quantity => gaugeName(series(device, quantity), t));
  assert.deepEqual(names('machine'), ['CPU', 'Memory', 'Power']);
  assert.deepEqual(names('process'), ['CPU', 'Memory', 'Power']);
  assert.deepEqual(names('GPU 0 (NVIDIA H200)'), ['GPU', 'GPU memory', 'Power']);
});

test('the lowest and highest are of what was known', () => {
  assert.deepEqual(extremes(counters([at(1, 5), at(2, null), at(3, 0)]), 0), [0, 5]);
  assert.equal(extremes(counters([at(1, null)]), 0), null);
});

test('the top of a chart is the limit, or without one a round number above what was seen', () => {
  assert.equal(top(700, 300, 'W'), 700);
  assert.equal(top(1, 0.004, 'share'), 1);
  assert.equal(top(8, 0.002, 'cores'), 8);
  assert.equal(top(80 * 1024 ** 3, 3.6 * 1024 ** 3, 'bytes'), 80 * 1024 ** 3);
  assert.equal(top(1, 1.02, 'share'), 1, 'the axis stays where it is');
  assert.equal(top(null, 312, 'W'), 500);
  assert.equal(top(null, 500, 'W'), 500);
  assert.equal(top(null, 0.7, 'W'), 1);
  assert.equal(top(null, 0, 'W'), 1);
  assert.equal(top(null, 3.6 * 1024 ** 3, 'bytes'), 5 * 1024 ** 3);
});

test('a table has a row every ten seconds of the day, the newest first', () => {
  const zero = 1_000_000_000_000;
  const known = counters([at(1, 1), at(9.9, 2), at(10, 3), at(25, 4)], { zero });
  assert.deepEqual(rows(known), [
    { at: zero + 20_000, values: [4] },
    { at: zero + 10_000, values: [3] },
    { at: zero, values: [2] }
  ]);
});

test('values have the unit that suits them', () => {
  assert.equal(gaugeValue(0.314, 'share', t), '31 %');
  assert.equal(gaugeValue(1.53, 'cores', t), '1.5 cores');
  assert.equal(gaugeValue(2, 'cores', t), '2 cores');
  assert.equal(gaugeValue(2 * 1024 ** 3, 'bytes', t), '2 GiB');
  assert.equal(gaugeValue(312.4, 'W', t), '312 W');
  assert.equal(gaugeValue(41, '°C', t), '41 °C');
});
