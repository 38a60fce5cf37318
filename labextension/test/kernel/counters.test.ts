import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Counters, readCountersEvent, readWatch } from '../../src/kernel/counters';
import { readCountersHistory } from '../../src/kernel/messages';
import { KernelModel } from '../../src/kernel/model';
import { readDelta, readSnapshot } from '../../src/kernel/protocol';
import { lanesSoFar } from '../../src/record/strip';
import { countersJson, deltaJson, runningJson, seriesJson, snapshotJson } from '../records';

const SERIES = [seriesJson('machine', 'memory'), seriesJson('GPU 0', 'power', { unit: 'W' })];

/** A model with the JSON of the kernel as its input. */
class Scene {
  readonly model = new KernelModel(() => 0);
  drawn = 0;

  constructor() {
    this.model.stateChanged.connect(() => {
      this.drawn += 1;
    });
  }

  delta(seq: number, events: object[], changes: object = {}): boolean {
    const delta = readDelta(deltaJson(seq, events, changes));
    assert(delta);
    return this.model.applyDelta(delta);
  }

  snapshot(seq: number, counters: unknown, changes: object = {}): void {
    const snapshot = readSnapshot(snapshotJson(seq, [], { counters, ...changes }));
    assert(snapshot);
    this.model.applySnapshot(snapshot);
  }

  get times(): number[] {
    return this.model.counters.value.samples.map(({ t }) => t);
  }
}

const history = (times: number[]): object => ({
  series: SERIES,
  interval: 0.5,
  watching: true,
  t: (times.at(-1) ?? 0) + 0.1,
  history: times.map(t => [t, [1, 300]])
});

test('counters are kept beside the state, which is not drawn again for them', () => {
  const scene = new Scene();
  scene.snapshot(1, null);
  const { drawn } = scene;
  scene.delta(2, [countersJson(10, [1, 300], SERIES)]);
  scene.delta(3, [countersJson(10.5, [2, 310])]);
  assert.equal(scene.drawn, drawn);
  assert.deepEqual(scene.times, [10, 10.5]);
  assert.equal(scene.model.counters.value.series[1]?.unit, 'W');
  scene.delta(4, [countersJson(11, [2, 310]), runningJson(1)]);
  assert.equal(scene.drawn, drawn + 1);
});

test('samples that come twice, late or in the wrong order leave the newest the newest', () => {
  const scene = new Scene();
  scene.snapshot(1, null);
  scene.delta(3, [countersJson(11, [3, 300], SERIES)]);
  scene.delta(3, [countersJson(11, [9, 300])]);
  scene.delta(2, [countersJson(10.5, [2, 300])]);
  scene.delta(4, [countersJson(10.7, [8, 300]), countersJson(11, [8, 300])]);
  assert.deepEqual(scene.times, [11]);
  assert.deepEqual(scene.model.counters.value.samples[0]?.values, [3, 300]);
});

test('after a reload the snapshot brings the history, and what came after it is added once', () => {
  const scene = new Scene();
  scene.delta(6, [countersJson(20.5, [2, 300])]);
  scene.snapshot(5, history([10, 19.5, 20]));
  assert.deepEqual(scene.times, [10, 19.5, 20, 20.5]);
  scene.snapshot(6, history([10, 19.5, 20, 20.5]));
  assert.deepEqual(scene.times, [10, 19.5, 20, 20.5]);
});

test('five minutes are kept and no more', () => {
  const scene = new Scene();
  scene.snapshot(1, null);
  for (let n = 0; n < 1000; n++) {
    scene.delta(n + 2, [countersJson(n / 2, [1, 300], n === 0 ? SERIES : undefined)]);
  }
  assert.equal(scene.times.length, 600);
  assert.equal(scene.times.at(-1), 499.5);
  scene.delta(1002, [countersJson(5000, [1, 300])]);
  assert.deepEqual(scene.times, [5000]);
});

test('values that fit no series are left out, and other series begin a new history', () => {
  const scene = new Scene();
  scene.snapshot(1, history([1, 2]));
  scene.delta(2, [countersJson(3, [1])]);
  assert.deepEqual(scene.times, [1, 2]);
  const reason = [SERIES[0], seriesJson('GPU 0', 'power', { unit: 'W', why_missing: 'Lost.' })];
  scene.delta(3, [countersJson(4, [1, null], reason)]);
  assert.deepEqual(scene.times, [1, 2, 4], 'a reason is no other line');
  scene.delta(4, [countersJson(5, [1], [SERIES[1]])]);
  assert.deepEqual(scene.times, [5]);
});

test('another run, a restart and a kernel without the extension leave no counters', () => {
  for (const end of [
    (scene: Scene) => scene.delta(1, [{ type: 'hello' }], { run: 'another' }),
    (scene: Scene) => scene.model.restart(),
    (scene: Scene) => scene.model.setKernel('absent')
  ]) {
    const scene = new Scene();
    scene.snapshot(1, history([1, 2]));
    end(scene);
    assert.deepEqual(scene.times, []);
  }
});

test('what is no counter is not known, and never zero', () => {
  for (const value of [NaN, Infinity, -1, '5', true, {}, []]) {
    const event = readCountersEvent({ time: 'now', t: 1, values: [value, 2] });
    assert.deepEqual(event?.sample.values, [null, 2]);
  }
  for (const table of [
    {},
    { t: 'one', values: [] },
    { t: 1, values: 'many' },
    { t: -1, values: [] }
  ]) {
    assert.equal(readCountersEvent(table), null);
  }
  for (const rubbish of [null, 7, [], {}, { t: 1 }, { t: 'x', history: [] }]) {
    assert.equal(readCountersHistory(rubbish), null);
  }
  const known = readCountersHistory({ t: 1, series: [7], history: [7, [1], [1, 'x'], [1, [2]]] });
  assert.equal(known?.samples.length, 1);
  assert.equal(known.series[0]?.device, '');
});

test('ten megabytes of counters become a bounded value', () => {
  const long = 'x'.repeat(1_000_000);
  const event = readCountersEvent({
    time: long,
    t: 1,
    values: Array.from({ length: 1_000_000 }, () => 1),
    series: Array.from({ length: 10_000 }, () => seriesJson(long, long))
  });
  assert(JSON.stringify(event).length < 300_000);
  const restored = readCountersHistory({
    t: 1e6,
    series: [],
    history: Array.from({ length: 100_000 }, (_, n) => [n, []])
  });
  assert.equal(restored?.samples.length, 600);
  assert.equal(restored.samples.at(-1)?.t, 99_999, 'the newest are kept');
});

test('the time of day of a sample is counted on this browser’s calendar', () => {
  const counters = new Counters(() => 1_000_000);
  counters.restore({ series: [], interval: 0.5, t: 400, samples: [{ t: 399, values: [] }] });
  assert.equal(counters.value.zero, 600_000);
});

test('why nothing comes is kept until something comes', () => {
  const counters = new Counters();
  counters.setWatch(readWatch({ watching: false, seconds: 15, why_missing: 'No cell has run.' }));
  assert.equal(counters.value.whyStopped, 'No cell has run.');
  counters.setWatch(readWatch({ watching: true, seconds: 15 }));
  assert.equal(counters.value.whyStopped, null);
  counters.setWatch(readWatch('rubbish'));
  assert.equal(counters.value.whyStopped, '');
  counters.add({ time: '', sample: { t: 1, values: [] }, series: [], strip: null });
  assert.equal(counters.value.whyStopped, null);
});

test('the strip of the cell that runs is the one that came last', () => {
  const counters = new Counters();
  const lane = { seconds: 0.5, did: 'pw', spent: [{ did: 'p', seconds: 0.5 }] };
  const add = (t: number, strip: unknown): void => {
    const event = readCountersEvent({ time: '', t, values: [], series: [], strip });
    assert(event !== null);
    counters.add(event);
  };
  add(1, { sequence: 3, seconds: 1, host: lane, gpus: [] });
  const { strip } = counters.value;
  assert(strip !== null);
  const [host] = lanesSoFar(strip);
  assert.equal(strip.sequence, 3);
  assert.deepEqual(
    host?.boxes.map(({ kind, to }) => [kind, to]),
    [
      ['p', 0.5],
      ['w', 1]
    ]
  );
  add(2, { seconds: 'rubbish' });
  assert.equal(counters.value.strip, null);
});
