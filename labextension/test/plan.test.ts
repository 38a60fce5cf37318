import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readPlan } from '../src/plan';
import type { IDrawing, IPlan } from '../src/plan';

const HOSTILE = '<img src=x onerror=alert(1)>';

function drawingJson(changes: object = {}): object {
  return {
    function: 'main',
    operations: 2,
    shown: 2,
    groups: 2,
    whole: true,
    box: [150, 40],
    size: [400, 80],
    frames: [
      [0, 0, 174, 64, 1, 0],
      [200, 0, 174, 64, 1, 0]
    ],
    boxes: [
      [12, 12, 'MatMul', 'product', 'own', 0, 0],
      [212, 12, 'Einsum', 'sum', 'cpu', 1, 0]
    ],
    reasons: ['Metal kernel', 'Einsum: no Metal kernel'],
    arrows: [[0, 1]],
    more_arrows: 3,
    ...changes
  };
}

function planJson(changes: object = {}): object {
  return {
    schema: 1,
    subject: 'a model',
    target: { title: 'Metal', noun: 'kernel' },
    table: 'tensorflow-metal 1.2.0',
    operations: 2,
    counts: { own: 1, shared: 0, cpu: 1 },
    subgraphs: [{ function: 'main', operations: 1, own: 1 }],
    fallbacks: [{ operation: 'Einsum', reason: 'no Metal kernel', count: 1, nodes: ['sum'] }],
    crossing: {
      known_bytes: 800,
      unknown_sizes: 1,
      tensors: [
        { function: 'main', tensor: 'product:0', type: 'float32', to: 'host', bytes: 800 },
        {
          function: 'main',
          tensor: 'sum:0',
          type: 'float32',
          to: 'device',
          bytes: null,
          why_missing: 'its shape is not known'
        }
      ]
    },
    drawings: [drawingJson()],
    notes: ['Nothing was run.'],
    cut: { functions: 2 },
    ...changes
  };
}

function known(data: unknown): IPlan {
  const plan = readPlan(data);
  assert(typeof plan !== 'string');
  return plan;
}

function drawingsOf(changes: object): IDrawing[] {
  return known(planJson({ drawings: [drawingJson(changes)] })).drawings;
}

function drawingOf(changes: object): IDrawing {
  const [drawing] = drawingsOf(changes);
  assert(drawing);
  return drawing;
}

test('a plan is read whole, and what is not known of it stays null', () => {
  const plan = known(planJson());
  assert.deepEqual(plan.counts, { own: 1, shared: 0, cpu: 1 });
  assert.deepEqual([plan.target, plan.layers], ['Metal', false]);
  const layers = known(planJson({ target: { title: 'ML Compute', noun: 'layer' } }));
  assert(layers.layers);
  assert.deepEqual(
    plan.crossings.map(({ bytes, whyMissing }) => [bytes, whyMissing]),
    [
      [800, ''],
      [null, 'its shape is not known']
    ]
  );
  assert.equal(plan.cut.get('functions'), 2);
});

test('boxes have their reasons, and arrows go from box to box', () => {
  const drawing = drawingOf({});
  assert.deepEqual(
    drawing.boxes.map(({ operation, kind, reason }) => [operation, kind, reason]),
    [
      ['MatMul', 'own', 'Metal kernel'],
      ['Einsum', 'cpu', 'Einsum: no Metal kernel']
    ]
  );
  assert.deepEqual(drawing.arrows, [{ from: drawing.boxes[0], to: drawing.boxes[1] }]);
  assert.equal(drawing.moreArrows, 3);
});

test('in a function drawn in short, arrows go from frame to frame', () => {
  const drawing = drawingOf({ whole: false });
  assert.deepEqual(drawing.arrows, [{ from: drawing.frames[0], to: drawing.frames[1] }]);
});

test('arrows from or to nothing are left out', () => {
  const arrows = [[0, 9], [-1, 0], ['0', 1], null, [1], { 0: 0, 1: 1 }, [0, 1]];
  assert.equal(drawingOf({ arrows }).arrows.length, 1);
});

test('a drawing of which a part cannot be read is not drawn', () => {
  for (const change of [
    { boxes: [[12, 12, 'MatMul', 'product', 'gpu', 0, 0]] },
    { boxes: [[Infinity, 12, 'MatMul', 'product', 'own', 0, 0]] },
    { boxes: [[1e9, 12, 'MatMul', 'product', 'own', 0, 0]] },
    { boxes: Array.from({ length: 5_000 }, () => [0, 0, 'a', 'b', 'own', 0, 0]) },
    { frames: [[0, 0, 'wide', 64, 1, 0]] },
    { size: [400] },
    { size: ['400', null] },
    { box: [0, 0] },
    { operations: -1 }
  ]) {
    assert.deepEqual(drawingsOf(change), [], JSON.stringify(change).slice(0, 80));
  }
});

test('a plan without what makes it one is refused, a newer one told apart', () => {
  assert.equal(readPlan(planJson({ schema: 2 })), 'newer');
  for (const data of [null, 7, [], 'plan', {}, { schema: 1 }, planJson({ counts: { own: 1 } })]) {
    assert.equal(readPlan(data), 'invalid');
  }
});

test('names are text, cut, with the characters written out that one does not see', () => {
  const long = 'x'.repeat(1_000_000);
  const plan = known(
    planJson({
      subject: `${HOSTILE}\u202egnp`,
      notes: Array.from({ length: 10_000 }, () => long),
      fallbacks: Array.from({ length: 10_000 }, () => ({ operation: long, reason: long, count: 1 }))
    })
  );
  assert.equal(plan.subject, `${HOSTILE}\\u202egnp`);
  assert(JSON.stringify(plan).length < 250_000);
});

test('parts of any other type leave the rest of the plan as it is', () => {
  const plan = known(
    planJson({ target: 7, fallbacks: {}, crossing: [], drawings: 'none', notes: null, cut: 3 })
  );
  assert.equal(plan.operations, 2);
  assert.deepEqual([plan.fallbacks, plan.crossings, plan.drawings], [[], [], []]);
});
