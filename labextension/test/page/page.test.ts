import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readPage, type IPage } from '../../src/page/page';
import type { ITable } from '../../src/page/pagetypes';
import { scaleOf, ticksOf } from '../../src/page/scales';

const AXIS = { title: 'n', log: true, low: 10, high: 1000, ticks: [] };

function chartJson(changes: object = {}): object {
  return {
    title: ['Time', 'a line'],
    x: {
      ...AXIS,
      ticks: [
        [10, '10'],
        [100, '100'],
        [1000, '1,000']
      ]
    },
    y: { title: 'seconds', log: false, low: -0.5, high: 2, ticks: [[0, '0']] },
    series: [
      {
        name: 'cpu:0',
        mark: 'line',
        colour: 1,
        dashed: true,
        points: [
          [10, 1, 0.9, 1.1, 'one'],
          [100, 2, null, null, 'two']
        ]
      }
    ],
    bars: [[0, 1, 0.5, 0, 2]],
    rules: [{ at: 46, low: 10, high: 100, label: 'gpu:0 faster' }],
    words: 'what it says',
    notes: [],
    lies: false,
    ...changes
  };
}

const TABLE = { columns: ['n', 'cpu:0'], rows: [['10', '1 s']], figures: [1], caption: 'Times' };

function pageJson(changes: object = {}): object {
  return {
    schema: 1,
    kind: 'race',
    title: 'Race: x @ x',
    parts: ['gpu:0 is faster.', TABLE],
    charts: [chartJson()],
    details: [],
    notes: ['Times are medians.'],
    headline: 'gpu:0 is faster from n = 100 on.',
    ...changes
  };
}

function known(changes: object = {}): IPage {
  const page = readPage(pageJson(changes));
  assert(typeof page !== 'string');
  return page;
}

test('a page is read with its sentences, its tables and its charts', () => {
  const page = known();
  assert.deepEqual([page.kind, page.title], ['race', 'Race: x @ x']);
  assert.equal(page.headline, 'gpu:0 is faster from n = 100 on.');
  const [sentence, table] = page.parts;
  assert.equal(sentence, 'gpu:0 is faster.');
  assert.deepEqual(table, { ...TABLE, below: '', summary: '' });
  const [chart] = page.charts;
  assert.deepEqual(chart, chartJson());
});

test('a sentence of several parts stays one to be translated', () => {
  const said = { template: '{device} is faster.', fields: { device: 'gpu:0' } };
  assert.deepEqual(known({ parts: [said] }).parts, [{ ...said, plural: null }]);
});

test('a point, a bar or a tick without its numbers is left out, and a cell that is none is empty', () => {
  const series = [
    { name: 'a', mark: 'points', points: [[1, 'high'], [Infinity, 1], null, [1, 2]] }
  ];
  const page = known({
    charts: [
      chartJson({
        series,
        bars: [
          [0, 1, 2, 3],
          ['0', 1, 2, 3, 4]
        ]
      })
    ],
    parts: [{ columns: ['a', 'b'], rows: [[7, 'b'], 'none'] }]
  });
  assert.deepEqual(page.charts[0]?.series[0]?.points, [[1, 2, null, null, '']]);
  assert.deepEqual(page.charts[0].bars, []);
  assert.deepEqual((page.parts[0] as ITable).rows, [['', 'b']]);
});

test('a chart without its axes is not drawn, and the page says the rest', () => {
  const page = known({ charts: [chartJson({ x: { ...AXIS, low: null } }), 7, {}] });
  assert.deepEqual(page.charts, []);
  assert.equal(page.parts.length, 2);
});

test('what is hostile is refused, cut, or left out', () => {
  assert.equal(readPage(pageJson({ schema: 2 })), 'newer');
  for (const data of [null, [], {}, { schema: 1 }, pageJson({ parts: 3 }), pageJson({ kind: 1 })]) {
    assert.equal(readPage(data), 'invalid');
  }
  const many = <T>(one: T): T[] => Array.from({ length: 10_000 }, () => one);
  const long = '<script>'.repeat(100_000);
  const page = known({
    title: `a\u202eb`,
    parts: [{ columns: many(long), rows: many([long]), caption: long }],
    notes: many(long),
    charts: many(chartJson({ series: [{ mark: 'line', points: many([1, 1]) }], title: many('x') }))
  });
  assert.equal(page.title, 'a\\u202eb');
  assert(JSON.stringify(page).length < 500_000);
});

test('on a logarithmic axis a power of ten is always as long, on another one a step', () => {
  const log = scaleOf(AXIS, 0, 200);
  assert.deepEqual([10, 100, 1000].map(log).map(Math.round), [0, 100, 200]);
  const level = scaleOf({ ...AXIS, log: false, low: -0.5, high: 1.5 }, 0, 200);
  assert.deepEqual([0, 1].map(level), [50, 150]);
});

test('ticks that would touch are left out', () => {
  const ticks: [number, string][] = [
    [10, '10'],
    [100, '100'],
    [1000, '1,000']
  ];
  const labels = (width: number): string[] =>
    ticksOf(
      { ...AXIS, ticks },
      scaleOf(AXIS, 0, width),
      label => label as string,
      () => 40
    ).map(({ label }) => label);
  assert.deepEqual(labels(200), ['10', '100', '1,000']);
  assert.deepEqual(labels(60), ['10', '1,000']);
});
