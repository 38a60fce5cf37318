import assert from 'node:assert/strict';
import { test } from 'node:test';

import { RowWindow } from '../../src/record/rowwindow';

/** Rows 10 pixels high, unless measured otherwise, named by a letter and their number. */
function windowOf(count: number, name = 'a'): RowWindow {
  const rows = new RowWindow(10);
  rows.setRows(count, index => `${name}${index}`);
  return rows;
}

test('rows stand one behind the other, as high as measured or else as estimated', () => {
  const rows = windowOf(1_000);
  const heights = Array.from({ length: 1_000 }, () => 10);
  for (let index = 0; index < 1_000; index += 7) {
    heights[index] = 10 + (index % 13);
    rows.setHeight(index, 10 + (index % 13));
  }
  let start = 0;
  for (const [index, height] of heights.entries()) {
    assert.equal(rows.start(index), start);
    assert.equal(rows.at(start), index);
    assert.equal(rows.at(start + height - 0.5), index);
    start += height;
  }
  assert.equal(rows.total, start);
  assert.equal(rows.at(start + 1_000), 999);
});

test('a height that is known already is no news', () => {
  const rows = windowOf(3);
  assert.equal(rows.setHeight(1, 10), false);
  assert.equal(rows.setHeight(1, 24), true);
  assert.equal(rows.setHeight(1, 24), false);
  assert.equal(rows.setHeight(7, 24), false);
});

/** Draws as often as there is something to draw. */
function draw(rows: RowWindow): void {
  while (rows.stale) {
    rows.setDrawn(rows.range);
  }
}

test('the rows in sight are drawn, and then a few before and behind them', () => {
  const rows = windowOf(100);
  rows.setView(300, 45);
  assert.equal(rows.hasGap, true);
  assert.deepEqual(rows.range, { first: 30, end: 35 });
  rows.setDrawn(rows.range);
  assert.equal(rows.hasGap, false);
  assert.equal(rows.stale, true);
  assert.deepEqual(rows.range, { first: 25, end: 40 });
  rows.setDrawn(rows.range);
  assert.equal(rows.stale, false);
  rows.setView(0, 45);
  draw(rows);
  assert.deepEqual(rows.range, { first: 0, end: 10 });
  const atEnd = new RowWindow(10, true);
  atEnd.setRows(100, String);
  assert.equal(atEnd.range.end, 100);
});

test('scrolled to a row that is not drawn, that one is made, and those drawn stay as long as they are near', () => {
  const rows = windowOf(1_000);
  rows.setView(5_000, 45);
  draw(rows);
  rows.setView(5_040, 45);
  assert.equal(rows.hasGap, false);
  assert.deepEqual(rows.range, { first: 499, end: 514 });
  rows.setView(5_060, 45);
  assert.equal(rows.hasGap, true);
  assert.deepEqual(rows.range, { first: 501, end: 511 });
  rows.setView(5_300, 45);
  assert.deepEqual(rows.range, { first: 530, end: 535 });
});

test('rows that move to another place are drawn already', () => {
  const rows = windowOf(1_000);
  rows.setView(5_000, 45);
  draw(rows);
  rows.setRows(1_030, index => (index < 30 ? `new${index}` : `a${index - 30}`));
  rows.setView(rows.anchoredTop ?? 0, 45);
  assert.equal(rows.stale, false);
  rows.setRows(1_000, index => `b${index}`);
  assert.equal(rows.hasGap, true);
});

test('rows that come in above leave the row that is read where it is, and it takes its height along', () => {
  const rows = windowOf(100);
  rows.setHeight(30, 60);
  rows.setView(320, 50);
  rows.setRows(103, index => (index < 3 ? `new${index}` : `a${index - 3}`));
  assert.equal(rows.anchoredTop, 350);
  assert.equal(rows.start(34) - rows.start(33), 60);
  rows.setHeight(1, 25);
  assert.equal(rows.anchoredTop, 365);
});

test('rows that go above do the same', () => {
  const rows = windowOf(100);
  rows.setHeight(30, 60);
  rows.setView(320, 50);
  rows.setRows(98, index => `a${index + 2}`);
  assert.equal(rows.anchoredTop, 300);
  assert.equal(rows.start(29) - rows.start(28), 60);
});

test('of another list nothing is kept', () => {
  const rows = windowOf(100);
  rows.setHeight(30, 60);
  rows.setView(320, 50);
  rows.setRows(50, index => `b${index}`);
  assert.equal(rows.anchoredTop, null);
  assert.equal(rows.total, 500);
});

test('a row is scrolled to as little as is needed, or into the middle', () => {
  const rows = windowOf(100);
  rows.setView(200, 50);
  assert.equal(rows.offsetOf(10, 'auto'), 100);
  assert.equal(rows.offsetOf(22, 'auto'), 200);
  assert.equal(rows.offsetOf(40, 'auto'), 360);
  assert.equal(rows.offsetOf(40, 'center'), 380);
});

test('an empty list has no row', () => {
  const rows = windowOf(0);
  assert.deepEqual(rows.range, { first: 0, end: 0 });
  assert.equal(rows.total, 0);
});

test('a task makes as many rows as it is allowed, those in sight first, and the next one goes on there', () => {
  const rows = windowOf(1_000);
  rows.setView(5_000, 45);
  const ranges = [];
  rows.allowRows(3);
  while (rows.stale) {
    const { range } = rows;
    rows.setDrawn(range);
    ranges.push(range);
    rows.allowRows(3);
  }
  assert.deepEqual(ranges, [
    { first: 500, end: 503 },
    { first: 500, end: 505 },
    { first: 500, end: 508 },
    { first: 499, end: 510 },
    { first: 496, end: 510 },
    { first: 495, end: 510 }
  ]);
});

test('what has been made is there still when no more is allowed, and what is out of sight goes', () => {
  const rows = windowOf(1_000);
  rows.setView(5_000, 45);
  draw(rows);
  rows.allowRows(0);
  rows.setView(5_080, 45);
  assert.equal(rows.canDraw, false);
  assert.deepEqual(rows.range, { first: 503, end: 510 });
});

test('at the end of a list its last rows are made first', () => {
  const rows = windowOf(1_000);
  rows.setView(9_955, 45);
  rows.allowRows(2);
  assert.deepEqual(rows.range, { first: 998, end: 1_000 });
});

test('the middle one of the heights measured first is that of all rows which were not measured', () => {
  const rows = windowOf(100);
  assert.equal(rows.estimateFrom([30]), false);
  assert.equal(rows.estimateFrom([30, 14, 14, 15]), true);
  assert.equal(rows.total, 1_500);
  assert.equal(rows.estimateFrom([50, 50, 50]), false);
  assert.equal(rows.setHeight(0, 30), true);
  assert.equal(rows.total, 1_515);
});

test('rows of one height are all as high as the one that was measured', () => {
  const rows = windowOf(100);
  assert.equal(rows.setAllHeights(26), true);
  assert.deepEqual([rows.start(50), rows.total, rows.at(26 * 7)], [1_300, 2_600, 7]);
  assert.equal(rows.setAllHeights(26), false);
});
