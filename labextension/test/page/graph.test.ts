import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readGraph, type IDrawing, type IGraph } from '../../src/page/graph';

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
    arrows: ['162 32 212 32'],
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

test('boxes have their reasons, and arrows the corners of their way', () => {
  const drawing = drawingOf({});
  assert.deepEqual(
    drawing.boxes.map(({ operation, kind, reason }) => [operation, kind, reason]),
    [
      ['MatMul', 'own', 'Metal kernel'],
      ['Einsum', 'cpu', 'Einsum: no Metal kernel']
    ]
  );
  assert.deepEqual(drawing.arrows, [
    [
      { x: 162, y: 32 },
      { x: 212, y: 32 }
    ]
  ]);
  assert.equal(drawing.moreArrows, 3);
});

test('arrows that are no way from corner to corner are left out', () => {
  const far = '1 2 999999999 4';
  const long = `1 2${' 3 4'.repeat(100_000)}`;
  const arrows = [[0, 9], '1 2', 'M1 2L3 4', null, '1 2 3 x', far, long, '1e9 2 3 4', '1 -2 3 4'];
  assert.deepEqual(drawingOf({ arrows }).arrows, [
    [
      { x: 1, y: -2 },
      { x: 3, y: 4 }
    ]
  ]);
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
