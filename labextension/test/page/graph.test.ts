import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readGraph } from '../../src/page/graph';
import type { IDrawing, IGraph } from '../../src/page/graph';

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

function graphJson(changes: object = {}): object {
  return {
    target: { title: 'Metal', noun: 'kernel' },
    counts: { own: 1, shared: 0, cpu: 1 },
    drawings: [drawingJson()],
    more_functions: 2,
    ...changes
  };
}

function known(data: unknown): IGraph {
  const graph = readGraph(data);
  assert(graph);
  return graph;
}

function drawingsOf(changes: object): IDrawing[] {
  return known(graphJson({ drawings: [drawingJson(changes)] })).drawings;
}

function drawingOf(changes: object): IDrawing {
  const [drawing] = drawingsOf(changes);
  assert(drawing);
  return drawing;
}

test('a graph is read whole', () => {
  const graph = known(graphJson());
  assert.deepEqual(graph.counts, { own: 1, shared: 0, cpu: 1 });
  assert.deepEqual([graph.target, graph.layers, graph.moreFunctions], ['Metal', false, 2]);
  assert(known(graphJson({ target: { title: 'ML Compute', noun: 'layer' } })).layers);
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

test('a graph without what makes it one is refused', () => {
  for (const data of [null, 7, [], 'graph', {}, graphJson({ counts: { own: 1 } })]) {
    assert.equal(readGraph(data), null);
  }
});

test('names are text, cut, with the characters written out that one does not see', () => {
  const long = 'x'.repeat(1_000_000);
  const drawing = drawingOf({ function: `${HOSTILE}\u202egnp`, reasons: [long, long] });
  assert.equal(drawing.name, `${HOSTILE}\\u202egnp`);
  assert(JSON.stringify(drawing).length < 10_000);
});

test('parts of any other type leave the rest of the graph as it is', () => {
  assert.deepEqual(known(graphJson({ target: 7, drawings: 'none' })).drawings, []);
});
