import assert from 'node:assert/strict';
import { test } from 'node:test';

import { KernelModel } from '../../src/kernel/model';
import { readRecords as readPage } from '../../src/kernel/messages';
import { readDelta, readSnapshot } from '../../src/kernel/protocol';
import { readRecord } from '../../src/record/record';
import { savedEntry, shownEntries, type IEntry } from '../../src/kernel/state';
import { deltaJson, logJson, reading, recordJson, runningJson, snapshotJson } from '../records';

/** A model with a clock that the test sets, and the JSON of the kernel as its input. */
class Scene {
  now = 1000;
  /** Number of the newest delta or snapshot. */
  seq = 0;
  readonly model = new KernelModel(() => this.now);

  delta(seq: number, events: object[], changes: object = {}): boolean {
    const delta = readDelta(deltaJson(seq, events, changes));
    assert(delta);
    this.seq = seq;
    return this.model.applyDelta(delta);
  }

  snapshot(seq: number, sequences: number[], changes: object = {}): boolean {
    const snapshot = readSnapshot(snapshotJson(seq, sequences, changes));
    assert(snapshot);
    this.seq = seq;
    return this.model.applySnapshot(snapshot);
  }

  /** Sequence of the cell that has just ended. */
  get ended(): number | null {
    return this.model.state.ended?.cell.sequence ?? null;
  }

  /** Sequences of the records, oldest first. */
  get sequences(): number[] {
    return this.model.state.entries.map(entry => entry.record.cell.sequence);
  }
}

const record = (sequence: number, changes: object = {}): object => ({
  type: 'record',
  record: recordJson(sequence, changes)
});

test('a hello makes the kernel live and asks for a snapshot', () => {
  const scene = new Scene();
  assert.equal(scene.delta(1, [{ type: 'hello' }]), true);
  assert.equal(scene.model.state.kernel, 'live');
});

test('a cell runs until its record comes', () => {
  const scene = new Scene();
  scene.snapshot(1, []);
  assert.equal(scene.delta(2, [runningJson(1, 0.5)]), false);
  assert.equal(scene.model.state.running[0]?.elapsed, 0.5);
  assert.equal(scene.model.state.running[0].receivedAt, 1000);
  scene.delta(3, [record(1)]);
  assert.equal(scene.model.state.running.length, 0);
  assert.deepEqual(scene.sequences, [1]);
});

test('a loaded record of another run does not end the running cell of the same number', () => {
  const scene = new Scene();
  scene.snapshot(1, []);
  scene.delta(2, [runningJson(1)]);
  scene.delta(3, [record(1, { run: { id: 'another' }, origin: 'loaded' })]);
  assert.equal(scene.model.state.running.length, 1);
  assert.equal(scene.model.state.entries.length, 1);
});

test('a missed delta asks for a snapshot, and what came still counts at once', () => {
  const scene = new Scene();
  scene.snapshot(1, [1]);
  assert.equal(scene.delta(4, [record(3)]), true);
  assert.deepEqual(scene.sequences, [1, 3]);
});

test('a delta that comes before an older snapshot is not lost', () => {
  const scene = new Scene();
  scene.delta(5, [record(2)]);
  scene.now = 2000;
  scene.delta(6, [runningJson(3, 0)]);
  scene.now = 9000;
  assert.equal(scene.snapshot(5, [1, 2]), false);
  assert.deepEqual(scene.sequences, [1, 2]);
  assert.equal(scene.model.state.running[0]?.cell.sequence, 3);
  assert.equal(scene.model.state.running[0].receivedAt, 2000, 'the clock counts from the delta');
});

test('a snapshot that leaves a gap to what came after it asks for another', () => {
  const scene = new Scene();
  scene.snapshot(1, []);
  assert.equal(scene.delta(4, [record(3)]), true);
  assert.equal(scene.snapshot(2, [1]), true);
  assert.deepEqual(scene.sequences, [1, 3]);
  assert.equal(scene.snapshot(4, [1, 2, 3]), false);
  assert.deepEqual(scene.sequences, [1, 2, 3]);
});

test('a delta that is already known changes nothing', () => {
  const scene = new Scene();
  scene.snapshot(5, [1]);
  assert.equal(scene.delta(4, [{ type: 'cleared' }]), false);
  assert.deepEqual(scene.sequences, [1]);
});

test('records that the snapshot is too short for are kept', () => {
  const scene = new Scene();
  scene.snapshot(1, [1, 2, 3]);
  scene.snapshot(9, [3, 4], { oldest: 1 });
  assert.deepEqual(scene.sequences, [1, 2, 3, 4]);
  assert.equal(scene.model.state.older, 0);
});

test('another run starts from nothing', () => {
  const scene = new Scene();
  scene.snapshot(7, [1, 2], { running: runningJson(3) });
  assert.equal(scene.delta(1, [{ type: 'hello' }], { run: 'another' }), true);
  assert.deepEqual(scene.sequences, []);
  assert.equal(scene.model.state.running.length, 0);
});

test('after a restart nothing of the old kernel is shown, and the model remembers why', () => {
  const scene = new Scene();
  scene.snapshot(7, [1, 2], { running: runningJson(3) });
  scene.model.restart();
  scene.model.setKernel('absent');
  assert.equal(scene.model.state.restarted, true);
  assert.deepEqual(scene.sequences, []);
  scene.snapshot(1, []);
  assert.equal(scene.model.state.restarted, false);
});

test('the last words of a kernel that was restarted are not heard', () => {
  const scene = new Scene();
  scene.snapshot(7, [1], { running: runningJson(2) });
  scene.model.restart();
  assert.equal(scene.delta(8, [record(2, { outcome: 'interrupted' })]), false);
  scene.model.setKernel('absent');
  assert.equal(scene.model.state.restarted, true);
  assert.deepEqual(scene.sequences, []);
  assert.equal(scene.delta(1, [{ type: 'hello' }], { run: 'another' }), true);
  assert.equal(scene.model.state.kernel, 'live');
});

test('records of earlier kernels stay before the own ones until the records are cleared', () => {
  const scene = new Scene();
  const of = (run: string): IEntry => {
    const saved = readRecord(recordJson(9, { run: { id: run } }));
    assert(typeof saved !== 'string');
    return savedEntry(saved, `cell-${run}`);
  };
  scene.snapshot(1, []);
  const own = scene.model.state.run;
  assert(own !== null);
  scene.model.setSaved([of('earlier'), of(own)], [], null);
  const shown = (): string[] =>
    shownEntries(scene.model.state).map(({ saved, record }) =>
      saved ? record.runId : `kernel's ${record.cell.sequence}`
    );
  assert.deepEqual(shown(), ['earlier', own]);
  scene.delta(2, [record(1)]);
  assert.deepEqual(shown(), ['earlier', "kernel's 1"]);
  scene.delta(3, [{ type: 'cleared' }]);
  assert.deepEqual(shown(), []);
  scene.delta(4, [{ type: 'goodbye' }]);
  assert.equal(scene.model.state.kernel, 'absent');
  assert.deepEqual(shown(), ['earlier', own]);
});

test('beyond 20,000 records the oldest are let go', () => {
  const scene = new Scene();
  scene.snapshot(1, []);
  for (let seq = 2; seq < 13; seq++) {
    const first = (seq - 2) * 2000;
    scene.delta(
      seq,
      Array.from({ length: 2000 }, (_, n) => record(first + n))
    );
  }
  assert.equal(scene.sequences.length, 20_000);
  assert.equal(scene.sequences[0], 2000);
});

test('what somebody has chosen waits with the snapshot and goes with an event', () => {
  const scene = new Scene();
  const wish = { word: 'gpu:0', framework: null };
  scene.snapshot(1, [], { choices: { device: wish, trace: false, said: null } });
  assert.deepEqual(scene.model.state.choices?.device, wish);
  assert.equal(scene.model.state.choices.trace, false);
  const said = { sentence: 'There is none.', refused: true, restart: { sentence: 'Restart.' } };
  scene.delta(2, [{ type: 'choices', choices: { device: null, trace: null, said } }]);
  assert.equal(scene.model.state.choices.device, null);
  assert.equal(scene.model.state.choices.said?.restart?.sentence, 'Restart.');
  scene.model.restart();
  assert.equal(scene.model.state.choices, null);
});

test('what a long command is at belongs to its cell, and goes with it', () => {
  const scene = new Scene();
  scene.snapshot(1, [], {
    running: { ...runningJson(1), run: { number: 2, of: 6 }, mode: 'profiled' }
  });
  const at = (sequence: number, progress: string | null): object => ({
    type: 'progress',
    sequence,
    progress
  });
  assert.deepEqual(scene.model.state.running[0]?.run, { number: 2, of: 6 });
  assert.equal(scene.model.state.running[0].mode, 'profiled');
  scene.delta(2, [at(1, 'Race: cpu:0, run 2 of 5'), at(7, 'of another cell')]);
  assert.equal(scene.model.state.running[0].progress, 'Race: cpu:0, run 2 of 5');
  scene.delta(3, [at(1, null)]);
  assert.equal(scene.model.state.running[0].progress, null);
});

test('the end of a cell is news, and a record that was there before is none', () => {
  const scene = new Scene();
  scene.snapshot(1, [1, 2]);
  assert.equal(scene.ended, null);
  scene.delta(2, [record(3, { run: { id: 'another' }, origin: 'loaded' })]);
  assert.equal(scene.ended, null);
  scene.delta(3, [record(4)]);
  assert.equal(scene.ended, 4);
  scene.snapshot(3, [1, 2, 4]);
  assert.equal(scene.ended, 4);
});

test('messages in any order, and each of them twice, end in the same state', () => {
  const deltas: [number, object[]][] = [
    [2, [runningJson(1)]],
    [3, [record(1), runningJson(2)]],
    [4, [record(2), { type: 'trace', on: false }]],
    [5, [runningJson(3), { type: 'device', device: { requested: { '*': 'cpu' } } }]]
  ];
  for (const order of [
    [0, 1, 2, 3],
    [3, 2, 1, 0],
    [1, 3, 0, 2],
    [2, 0, 3, 1]
  ]) {
    const scene = new Scene();
    scene.snapshot(1, []);
    for (const index of [...order, ...order]) {
      scene.delta(...(deltas[index] ?? [0, []]));
    }
    // What was missed on the way is in the snapshot that was asked for.
    scene.snapshot(5, [1, 2], {
      tracing: false,
      device: { requested: { '*': 'cpu' } },
      running: runningJson(3)
    });
    assert.deepEqual(scene.sequences, [1, 2]);
    const { tracing, device, running } = scene.model.state;
    assert.equal(tracing, false);
    assert.deepEqual(device?.requested, [['*', 'cpu']]);
    assert.deepEqual(
      running.map(({ cell }) => cell.sequence),
      [3]
    );
  }
});

test('a record of 10 MB counts, with as much of it as a person can look at', () => {
  const scene = new Scene();
  scene.snapshot(1, []);
  const logs = Array.from({ length: 40_000 }, (_, n) => logJson(`${n} ${'x'.repeat(250)}`));
  scene.delta(2, [record(1, { logs })]);
  const [entry] = scene.model.state.entries;
  assert.equal(entry?.record.logs.length, 2000);
  assert.deepEqual(entry.record.cut, [['logs', 38_000]]);
});

test('records of a newer schema are left out and not asked for again', () => {
  const scene = new Scene();
  const changes = { records: [recordJson(1, { schema: 3 }), recordJson(2)], first: 0, oldest: 0 };
  scene.snapshot(1, [], changes);
  scene.delta(2, [record(3, { schema: 3 }), record(4)]);
  assert.deepEqual(scene.sequences, [2, 4]);
  assert.equal(scene.model.missing, null);
});

test('pages bring what the snapshot left out, unless it was cleared meanwhile', () => {
  const scene = new Scene();
  scene.snapshot(1, [5, 6], { first: 5, oldest: 3 });
  assert.equal(scene.model.missing, 5);
  const page = readPage({ ...snapshotJson(1, [3, 4]), first: 3, oldest: 3 });
  assert(page);
  scene.model.applyPage(page);
  assert.deepEqual(scene.sequences, [3, 4, 5, 6]);
  assert.equal(scene.model.missing, null);
  scene.delta(2, [{ type: 'cleared' }]);
  assert.equal(scene.model.missing, null);
  assert.equal(scene.model.state.older, 0);
});

test('the time a cell took last is that of its code, in this kernel or in the saved notebook', () => {
  const scene = new Scene();
  const cell = (sequence: number, digest: string | null): object => ({
    cell: { sequence, id: 'a', execution_count: 1, source_digest: digest, name: 'fit' }
  });
  const ran = (digest: string | null, wall: number, changes: object = {}): object =>
    recordJson(1, { ...cell(1, digest), readings: [reading('wall_time', wall)], ...changes });
  const last = (digest: string | null, mode = 'light'): number | null => {
    const { model } = scene;
    scene.delta(scene.seq + 1, [{ ...runningJson(9), ...cell(9, digest), mode }]);
    const [running] = model.state.running;
    assert(running);
    return model.lastTime(running);
  };
  const saved = readRecord(ran('fit', 20, { started_at: '2026-11-20T08:00:00.000000Z' }));
  assert(typeof saved !== 'string');
  scene.model.setSaved([savedEntry(saved, 'a')], [], null);
  // The receipt is cleared when its cell begins to run again.
  scene.model.setSaved([], [], null);
  scene.snapshot(1, []);
  assert.equal(last('fit'), 20);
  assert.equal(last('fit', 'profiled'), null);
  assert.equal(last('fit', 'checked'), null);
  assert.equal(last('other'), null);
  assert.equal(last(null), null);
  const put = (...records: object[]): void => {
    scene.delta(
      scene.seq + 1,
      records.map(one => ({ type: 'record', record: one }))
    );
  };
  put(ran('fit', 12));
  assert.equal(last('fit'), 12);
  const later = { started_at: '2026-11-22T08:00:00.000000Z' };
  put(
    ran('fit', 1, { ...later, outcome: 'error' }),
    ran('fit', 2, { ...later, mode: 'profiled' }),
    ran('fit', 3, { ...later, origin: 'loaded' }),
    ran(null, 4, later)
  );
  assert.equal(last('fit'), 12);
  assert.equal(last(null), null);
  scene.model.restart();
  scene.snapshot(1, [], { run: 'another' });
  scene.model.setSaved([], [], null);
  scene.delta(2, [{ ...runningJson(1), ...cell(1, 'fit') }], { run: 'another' });
  const [running] = scene.model.state.running;
  assert(running);
  assert.equal(scene.model.lastTime(running), 12);
});
