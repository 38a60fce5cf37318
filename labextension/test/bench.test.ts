import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readBench } from '../src/bench';
import type { IBench } from '../src/bench';
import { decades, formatPower, logarithmic, ticks } from '../src/logscale';

function benchJson(changes: object = {}): object {
  return {
    schema: 1,
    name: 'gemm',
    head: 'a chip, 2026-11-22.',
    outcome: 'ok',
    titles: ['case', 'TFLOP/s'],
    rows: [['gemm n=512 float32', '0.12']],
    charts: [
      {
        title: 'Products of n x n matrices',
        x: 'n',
        y: 'TFLOP/s',
        series: [
          {
            name: 'float32',
            kind: 'line',
            colour: 0,
            points: [
              [512, 0.12, 0.11, 0.13, 'gemm n=512 float32'],
              [1024, 0.2, null, null, 'one sample']
            ]
          }
        ]
      }
    ],
    notes: ['A step’s time is the median.'],
    cut: { notes: 2 },
    ...changes
  };
}

function known(changes: object = {}): IBench {
  const bench = readBench(benchJson(changes));
  assert(typeof bench !== 'string');
  return bench;
}

test('a benchmark is read with its charts, and a point without a spread has none', () => {
  const bench = known();
  const points = bench.charts[0]?.series[0]?.points ?? [];
  assert.deepEqual(points[0]?.spread, [0.11, 0.13]);
  assert.equal(points[1]?.spread, null);
  assert.deepEqual(bench.rows, [['gemm n=512 float32', '0.12']]);
  assert.equal(bench.cut.get('notes'), 2);
});

test('what is none of ours, or newer, is told apart', () => {
  assert.equal(readBench(benchJson({ schema: 2 })), 'newer');
  for (const rubbish of [
    null,
    7,
    [],
    {},
    benchJson({ rows: 'x' }),
    benchJson({ outcome: 'fine' })
  ]) {
    assert.equal(readBench(rubbish), 'invalid');
  }
});

test('points without a place on logarithmic axes are left out, and all is bounded', () => {
  const strange = [[0, 1], [1, -1], [NaN, 1], 'x', [1, 1]];
  const point = [1, 1, null, null, 'x'.repeat(10_000)];
  const many = Array.from({ length: 100_000 }, () => point);
  const series = (points: unknown[]): object => ({ name: 'a', kind: 'points', colour: 1, points });
  const chart = (points: unknown[]): object => ({
    title: '',
    x: '',
    y: '',
    series: [series(points)]
  });
  assert.equal(known({ charts: [chart(strange)] }).charts[0]?.series[0]?.points.length, 1);
  const bounded = known({ charts: Array.from({ length: 200 }, () => chart(many)) });
  assert(bounded.charts.length <= 64);
  assert((bounded.charts[0]?.series[0]?.points.length ?? 0) <= 400);
  assert((bounded.charts[0]?.series[0]?.points[0]?.label.length ?? 0) <= 120);
});

test('rows have as many cells as there are titles', () => {
  assert.deepEqual(known({ rows: [['a'], ['a', 'b', 'c'], 7] }).rows, [
    ['a', ''],
    ['a', 'b']
  ]);
});

test('a logarithmic axis has a tick at powers of ten, as people write them', () => {
  const across = decades([0.02, 3000]);
  assert.deepEqual(across, [-2, 4]);
  const scale = logarithmic(across, 0, 600);
  assert.equal(scale(1), 200);
  const labels = ticks(across, 600, 44, scale, formatPower).map(({ label }) => label);
  assert.deepEqual(labels, ['0.01', '0.1', '1', '10', '100', '1,000', '10,000']);
  assert.equal(formatPower(1e7), '1e7');
  assert.equal(formatPower(1e-6), '1e-6');
});
