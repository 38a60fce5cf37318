import assert from 'node:assert/strict';
import { test } from 'node:test';

import { RowWindow } from '../src/rowwindow';

/** Rows 10 pixels high, unless measured otherwise, named by a letter and their number. */
function windowOf(count: number, name = 'a'): RowWindow {
  const rows = new RowWindow(10);
  rows.become(count, index => `${name}${index}`);
  return rows;
}

test('rows stand one behind the other, as high as measured or else as estimated', () => {
  const rows = windowOf(1_000);
  const heights = Array.from({ length: 1_000 }, () => 10);
  for (let index = 0; index < 1_000; index += 7) {
    heights[index] = 10 + (index % 13);
    rows.set(index, 10 + (index % 13));
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
  assert.equal(rows.set(1, 10), false);
  assert.equal(rows.set(1, 24), true);
  assert.equal(rows.set(1, 24), false);
  assert.equal(rows.set(7, 24), false);
});

test('the rows in sight are drawn, and a few before and behind them', () => {
  const rows = windowOf(100);
  rows.see(300, 50);
  assert.deepEqual(rows.range, { first: 25, end: 41 });
  rows.see(0, 50);
  assert.deepEqual(rows.range, { first: 0, end: 11 });
  const atEnd = new RowWindow(10, true);
  atEnd.become(100, String);
  assert.equal(atEnd.range.end, 100);
});

test('rows that come in above leave the row that is read where it is, and it takes its height along', () => {
  const rows = windowOf(100);
  rows.set(30, 60);
  rows.see(320, 50);
  rows.become(103, index => (index < 3 ? `new${index}` : `a${index - 3}`));
  assert.equal(rows.kept, 350);
  assert.equal(rows.start(34) - rows.start(33), 60);
  rows.set(1, 25);
  assert.equal(rows.kept, 365);
});

test('rows that go above do the same', () => {
  const rows = windowOf(100);
  rows.set(30, 60);
  rows.see(320, 50);
  rows.become(98, index => `a${index + 2}`);
  assert.equal(rows.kept, 300);
  assert.equal(rows.start(29) - rows.start(28), 60);
});

test('of another list nothing is kept', () => {
  const rows = windowOf(100);
  rows.set(30, 60);
  rows.see(320, 50);
  rows.become(50, index => `b${index}`);
  assert.equal(rows.kept, null);
  assert.equal(rows.total, 500);
});

test('a row is scrolled to as little as is needed, or into the middle', () => {
  const rows = windowOf(100);
  rows.see(200, 50);
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
