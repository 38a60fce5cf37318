import assert from 'node:assert/strict';
import test from 'node:test';
import type { TestContext } from 'node:test';

import { ServerConnection } from '@jupyterlab/services';

import { Machine } from '../../src/kernel/machine';

/** A server whose answers come at once, and the clock of a page that a test turns by hand. */
function server(context: TestContext, status: number, answer: () => object): [Machine, string[]] {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const asked: string[] = [];
  const fetch = (request: RequestInfo | URL): Promise<Response> => {
    asked.push((request as Request).url);
    return Promise.resolve(new Response(JSON.stringify(answer()), { status }));
  };
  const settings = ServerConnection.makeSettings({ baseUrl: 'http://lab/user/ada/', fetch });
  return [new Machine(settings), asked];
}

/** Let what was answered be read. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) {
    await new Promise(setImmediate);
  }
}

function looks(): () => object {
  let t = 0;
  const memory = { device: 'machine', quantity: 'memory', unit: 'bytes', source: 'psutil' };
  return () => ({ time: '', t: (t += 1), values: [t * 1024], series: [memory] });
}

test('the server is asked twice a second, as a kernel samples, while somebody looks, and no more afterwards', async context => {
  const [machine, asked] = server(context, 200, looks());
  await settled();
  assert.equal(asked.length, 0);
  const end = machine.requestCounters(true);
  const other = machine.requestCounters(true);
  await settled();
  assert.equal(asked.length, 1);
  assert.match(asked[0] ?? '', /^http:\/\/lab\/user\/ada\/jupyter-mlgpu\/machine/);
  context.mock.timers.tick(500);
  await settled();
  assert.deepEqual(
    machine.counters.value.samples.map(({ values }) => values),
    [[1024], [2048]]
  );
  other?.();
  context.mock.timers.tick(500);
  await settled();
  assert.equal(asked.length, 3);
  end?.();
  context.mock.timers.tick(60_000);
  await settled();
  assert.equal(asked.length, 3);
});

test('a server that is ill is asked less often, and one without the extension no more', async context => {
  const [ill, askedIll] = server(context, 500, () => ({}));
  ill.requestCounters(true);
  await settled();
  context.mock.timers.tick(9_000);
  await settled();
  assert.equal(askedIll.length, 1);
  context.mock.timers.tick(1_000);
  await settled();
  assert.equal(askedIll.length, 2);
  assert.equal(ill.isUnknown, false);
  context.mock.timers.reset();
  const [strange, asked] = server(context, 404, () => ({}));
  strange.requestCounters(true);
  await settled();
  assert.equal(strange.isUnknown, true);
  context.mock.timers.tick(60_000);
  await settled();
  assert.equal(asked.length, 1);
});
