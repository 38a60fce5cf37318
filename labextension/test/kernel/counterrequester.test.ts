import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

import { KernelModel } from '../../src/kernel/model';
import { readDelta, readSnapshot } from '../../src/kernel/protocol';
import { CounterRequester } from '../../src/kernel/counterrequester';
import { deltaJson, snapshotJson } from '../records';

/** A kernel that answers what the test says, and a watcher of its counters. */
class Scene {
  readonly model = new KernelModel(() => 0);
  readonly watcher = new CounterRequester(
    this.model,
    () => {
      this.told += 1;
      return this.fails ? Promise.reject(new Error('No answer.')) : Promise.resolve(this.answer);
    },
    () => this.now
  );
  /** Milliseconds of the browser's clock. */
  now = 0;
  answer: Record<string, unknown> = { watching: true, seconds: 15 };
  fails = false;
  told = 0;
  private samples = 0;

  live(): void {
    const snapshot = readSnapshot(snapshotJson(1, []));
    assert(snapshot);
    this.model.applySnapshot(snapshot);
  }

  sample(): void {
    this.samples += 1;
    this.model.counters.add({
      time: '',
      sample: { t: this.samples, values: [] },
      series: null,
      strip: null
    });
  }

  restarted(): void {
    const delta = readDelta(deltaJson(1, [{ type: 'hello' }], { run: 'another' }));
    assert(delta);
    this.model.applyDelta(delta);
  }
}

/** Let what was promised happen. */
const settle = async (): Promise<void> => {
  for (let n = 0; n < 10; n++) {
    await Promise.resolve();
  }
};

test.beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
test.afterEach(() => mock.timers.reset());

test('a kernel is told before its seconds are over, for as long as somebody looks', async () => {
  const scene = new Scene();
  scene.live();
  scene.watcher.start();
  await settle();
  assert.equal(scene.told, 1);
  mock.timers.tick(14_900);
  await settle();
  assert.equal(scene.told, 2);
  scene.watcher.stop();
  mock.timers.tick(60_000);
  await settle();
  assert.equal(scene.told, 2);
});

test('a kernel that does not live yet is told once it does, and again after a restart', async () => {
  const scene = new Scene();
  scene.watcher.start();
  await settle();
  assert.equal(scene.told, 0);
  scene.live();
  await settle();
  assert.equal(scene.told, 1);
  scene.model.setKernel('silent');
  scene.live();
  await settle();
  assert.equal(scene.told, 1);
  scene.restarted();
  await settle();
  assert.equal(scene.told, 2);
  scene.watcher.stop();
});

test('a kernel whose counters rest is left alone until a cell begins', async () => {
  const scene = new Scene();
  scene.live();
  scene.answer = { watching: false, seconds: 15, why_missing: 'No cell has run.' };
  scene.watcher.start();
  await settle();
  assert.equal(scene.model.counters.value.whyStopped, 'No cell has run.');
  mock.timers.tick(600_000);
  await settle();
  assert.equal(scene.told, 1);
  scene.answer = { watching: true, seconds: 15 };
  scene.watcher.wake();
  await settle();
  assert.equal(scene.told, 2);
  assert.equal(scene.model.counters.value.whyStopped, null);
  scene.watcher.wake();
  await settle();
  assert.equal(scene.told, 2, 'what does not rest need not be woken');
  scene.watcher.stop();
});

test('a kernel that did not answer is told again', async () => {
  const scene = new Scene();
  scene.live();
  scene.fails = true;
  scene.watcher.start();
  await settle();
  scene.fails = false;
  mock.timers.tick(10_000);
  await settle();
  assert.equal(scene.told, 2);
  scene.watcher.stop();
});

test('who stops before the answer is there is not told again', async () => {
  const scene = new Scene();
  scene.live();
  scene.watcher.start();
  scene.watcher.stop();
  await settle();
  mock.timers.tick(60_000);
  await settle();
  assert.equal(scene.told, 1);
});

test('in a page behind others, where timers hardly run, each sample is a clock', async () => {
  const scene = new Scene();
  scene.live();
  scene.watcher.start();
  await settle();
  assert.equal(scene.told, 1);
  scene.now = 8_000;
  scene.sample();
  await settle();
  assert.equal(scene.told, 1);
  scene.now = 9_000;
  scene.sample();
  scene.sample();
  await settle();
  assert.equal(scene.told, 2);
  scene.watcher.stop();
  scene.now = 60_000;
  scene.sample();
  await settle();
  assert.equal(scene.told, 2);
});
