import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readRecord } from '../../src/record/record';
import { Records } from '../../src/record/records';
import { liveEntry, type IEntry } from '../../src/kernel/state';
import { recordJson } from '../records';

function entry(sequence: number, name = ''): IEntry {
  const cell = { sequence, id: null, execution_count: sequence, name };
  const record = readRecord(recordJson(sequence, { cell }));
  assert(typeof record !== 'string');
  return liveEntry(record);
}

/** A page of records whose sequences are their places. */
function page(
  first: number,
  end: number,
  oldest = 0,
  dropped = 0
): Parameters<Records['takeOlder']>[0] {
  const entries = Array.from({ length: end - first }, (_, index) => entry(first + index, 'page'));
  return { first, oldest, dropped, entries };
}

const sequences = (records: Records): number[] =>
  records.entries().map(({ record }) => record.cell.sequence);
const names = (records: Records): string[] =>
  records.entries().map(({ record }) => record.cell.name);

test('older records come page by page until none is missing', () => {
  const records = new Records();
  records.takeNewest(page(6, 8, 1, 1));
  assert.equal(records.missing, 6);
  assert.equal(records.older, 6);
  records.takeOlder(page(3, 6, 1, 1));
  assert.equal(records.missing, 3);
  records.takeOlder(page(1, 3, 1, 1));
  assert.equal(records.missing, null);
  assert.equal(records.older, 1, 'the kernel let one go');
  assert.deepEqual(sequences(records), [1, 2, 3, 4, 5, 6, 7]);
});

test('records find their places in whatever order they come, and twice', () => {
  const records = new Records();
  records.takeNewest(page(4, 6));
  for (const place of [7, 2, 6, 2, 0, 7]) {
    records.put(entry(place), place);
  }
  assert.deepEqual(sequences(records), [0, 2, 4, 5, 6, 7]);
  assert.equal(records.missing, 4);
  records.takeOlder(page(3, 4));
  assert.equal(records.missing, 2);
  records.takeOlder(page(0, 2));
  assert.equal(records.missing, null);
  assert.deepEqual(sequences(records), [0, 1, 2, 3, 4, 5, 6, 7]);
});

test('what came by itself is newer than a page, and a snapshot is newer than what is here', () => {
  const records = new Records();
  records.takeNewest(page(2, 3));
  records.put(entry(1, 'itself'), 1);
  records.takeOlder(page(0, 2));
  assert.deepEqual(names(records), ['page', 'itself', 'page']);
  records.put(entry(2, 'itself'), 2);
  records.takeNewest(page(1, 3));
  assert.deepEqual(names(records), ['page', 'page', 'page']);
});

test('a record keeps its place where the kernel does not tell it, and a new one comes last', () => {
  const records = new Records();
  records.takeNewest(page(3, 5));
  records.put(entry(3, 'again'), null);
  records.put(entry(9), null);
  assert.deepEqual(sequences(records), [3, 4, 9]);
  assert.deepEqual(names(records), ['again', 'page', '']);
});

test('what was cleared while nobody heard it is gone with the next snapshot', () => {
  const records = new Records();
  records.takeNewest(page(0, 5));
  records.takeNewest(page(6, 8, 6, 0));
  assert.deepEqual(sequences(records), [6, 7]);
  assert.equal(records.older, 0);
  assert.equal(records.missing, null);
});

test('a record that cannot be read is not asked for again', () => {
  const records = new Records();
  records.takeNewest({ first: 1, oldest: 0, dropped: 0, entries: [null, entry(2)] });
  assert.deepEqual(sequences(records), [2]);
  records.takeOlder({ first: 0, oldest: 0, dropped: 0, entries: [null] });
  assert.equal(records.missing, null);
});

test('after all were cleared nothing is missing and nothing is older', () => {
  const records = new Records();
  records.takeNewest(page(6, 8));
  records.clear();
  records.put(entry(8), 8);
  assert.equal(records.missing, null);
  assert.equal(records.older, 0);
});
