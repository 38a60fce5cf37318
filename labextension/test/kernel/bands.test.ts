import assert from 'node:assert/strict';
import { test } from 'node:test';

import { asBackground, bands } from '../../src/kernel/bands';
import type { ICounters } from '../../src/kernel/counters';
import { KernelModel } from '../../src/kernel/model';
import { readDelta, readSnapshot } from '../../src/kernel/protocol';
import type { IState } from '../../src/kernel/state';
import { deltaJson, recordJson, reading, runningJson, snapshotJson } from '../records';

/** A minute of samples, the newest of them at noon. */
const NOON: ICounters = {
  series: [],
  samples: [
    { t: 0, values: [] },
    { t: 60, values: [] }
  ],
  interval: 0.5,
  sampled: '2026-11-21T12:00:00Z',
  zero: 0,
  whyStopped: null,
  strip: null
};

function ran(sequence: number, time: string, wall: number, changes: object = {}): object {
  const readings = [reading('wall_time', wall)];
  return recordJson(sequence, { started_at: `2026-11-21T${time}Z`, readings, ...changes });
}

function state(records: object[], events: object[] = []): IState {
  const model = new KernelModel(() => 0);
  const snapshot = readSnapshot(snapshotJson(1, [], { records, first: 1, oldest: 1 }));
  const delta = readDelta(deltaJson(2, events));
  assert(snapshot && delta);
  model.applySnapshot(snapshot);
  model.applyDelta(delta);
  return model.state;
}

const parts = (known: ICounters, of: IState, now = 0): [number, number, number][] =>
  bands(known, of, () => now).map(({ cell, from, to }) => [cell.sequence, from, to]);

test('a cell is a band over the time that it took', () => {
  const cells = state([ran(1, '11:59:15', 15), ran(2, '11:59:45', 30)]);
  assert.deepEqual(parts(NOON, cells), [
    [1, 0.25, 0.5],
    [2, 0.75, 1]
  ]);
});

test('cells before the chart have no band, and one that reaches into it begins at its edge', () => {
  const cells = state([ran(1, '11:00:00', 15), ran(2, '11:58:45', 30)]);
  assert.deepEqual(parts(NOON, cells), [[2, 0, 0.25]]);
});

test('a short cell can still be seen', () => {
  const [band] = bands(NOON, state([ran(1, '11:59:30', 1e-6)]));
  assert(band && band.to - band.from > 0.003);
});

test('the cell that runs reaches from its beginning to the newest sample', () => {
  assert.deepEqual(parts(NOON, state([], [runningJson(7, 10)]), 20_000), [[7, 0.5, 1]]);
});

test('records of another run, and cells before the kernel’s clock is known, have no place', () => {
  const loaded = { run: { id: 'c'.repeat(32), notebook: null, host_digest: 'x', engine: null } };
  assert.deepEqual(parts(NOON, state([ran(1, '11:59:30', 1, loaded)])), []);
  assert.deepEqual(parts({ ...NOON, sampled: null }, state([ran(1, '11:59:30', 1)])), []);
});

test('bands are the background of every chart, in two tints by turns', () => {
  const background = asBackground(
    bands(NOON, state([ran(1, '11:59:15', 15), ran(2, '11:59:45', 15)]))
  );
  assert.match(background, /band-0\) 25.00%, .*band-0\) 50.00%, .*band-1\) 75.00%/);
  assert.equal(asBackground([]), 'none');
});
