/**
 * What the kernel sends of the graph of a plan: jupyter_mlgpu/show/planning/live.py.
 *
 * Made by scripts/readers.py of Python's types (`make schemas`).
 */

import { readWay } from './ways';
import { said } from '../language/sentence';
import {
  allOf,
  count,
  flag,
  listOf,
  oneOf,
  or,
  printedIn,
  rowOf,
  shape,
  text,
  upTo
} from '../language/untrusted';
import type { Read } from '../language/untrusted';

export const FARTHEST = 200_000;

const or0Count = or(0, count);
const upTo200000 = upTo(200_000);
const orPrintedIn120 = or('', printedIn(120));

/** The target of a plan. noun is what its table lists: kernels or layers. */
export const readTarget = shape({}, { title: orPrintedIn120, noun: or('', text) });

export type ITarget = Read<typeof readTarget>;

/** The number of operations of each kind. */
export const readCounts = shape({ own: count, shared: count, cpu: count }, {});

export type ICounts = Read<typeof readCounts>;

/** The size of a drawing or of its boxes. */
export const readSize = rowOf({ width: upTo200000, height: upTo200000 }, {});

export type ISize = Read<typeof readSize>;

/** Operations that can run as a whole: place, number, and the number of them without a box. */
export const readFrame = rowOf(
  { x: upTo200000, y: upTo200000, width: upTo200000, height: upTo200000 },
  { operations: or0Count, hidden: or0Count }
);

export type IFrame = Read<typeof readFrame>;

/** A box: place, operation, name, kind, and the index of the reason. */
export const readBox = rowOf(
  {
    x: upTo200000,
    y: upTo200000,
    operation: orPrintedIn120,
    name: orPrintedIn120,
    kind: oneOf('own', 'shared', 'cpu')
  },
  { reason: count, count: or0Count }
);

export type IBox = Read<typeof readBox>;

/** One function. whole: each operation has its box. Otherwise the largest groups have one per kind. */
export const readDrawing = shape(
  {
    operations: count,
    box: readSize,
    size: readSize,
    frames: allOf(readFrame, 500),
    boxes: allOf(readBox, 500)
  },
  {
    function: orPrintedIn120,
    shown: or0Count,
    groups: or0Count,
    whole: flag,
    reasons: listOf(said, 500),
    arrows: listOf(readWay, 1000),
    moreArrows: or0Count
  }
);

export type IDrawing = Read<typeof readDrawing>;

/** The functions of a plan, and the number of operations of each kind. */
export const readGraph = shape(
  { counts: readCounts },
  { target: readTarget, drawings: listOf(readDrawing), moreFunctions: or0Count }
);

export type IGraph = Read<typeof readGraph>;
