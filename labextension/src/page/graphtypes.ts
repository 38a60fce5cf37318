/**
 * What the kernel sends of the graph of a plan: jupyter_mlgpu/show/planning/live.py.
 *
 * Made by scripts/readers.py of Python's types (`make schemas`).
 */

import { readWay } from './ways';
import type { ICorner } from './ways';
import { said } from '../language/sentence';
import type { Sentence } from '../language/sentence';
import {
  allOf,
  count,
  flag,
  listOf,
  oneOf,
  or,
  printedIn,
  shape,
  text,
  tupleOf,
  upTo
} from '../language/untrusted';
import type { Reader } from '../language/untrusted';

/** Where it would run; noun is what is known of it, kernels or layers. */
export interface ITarget {
  title: string;
  noun: string;
}

export const readTarget: Reader<ITarget> = shape(
  {},
  {
    title: or('', printedIn(120)),
    noun: or('', text)
  }
);

/** How many operations are of each kind. */
export interface ICounts {
  own: number;
  shared: number;
  cpu: number;
}

export const readCounts: Reader<ICounts> = shape(
  {
    own: count,
    shared: count,
    cpu: count
  },
  {}
);

/** Of a drawing, and of each of its boxes. */
export type ISize = [width: number, height: number];

export const readSize: Reader<ISize> = tupleOf<ISize>(2, upTo(200_000), upTo(200_000));

/** Operations that can run as a whole: where, how many, and how many of them no box tells. */
export type IFrame = [
  x: number,
  y: number,
  width: number,
  height: number,
  operations: number,
  hidden: number
];

export const readFrame: Reader<IFrame> = tupleOf<IFrame>(
  4,
  upTo(200_000),
  upTo(200_000),
  upTo(200_000),
  upTo(200_000),
  or(0, count),
  or(0, count)
);

/** Where; the operation, its name, where it runs, why, as a number; how many it stands for, 0: itself. */
export type IBox = [
  x: number,
  y: number,
  operation: string,
  name: string,
  kind: 'own' | 'shared' | 'cpu',
  reason: number | null,
  standsFor: number
];

export const readBox: Reader<IBox> = tupleOf<IBox>(
  5,
  upTo(200_000),
  upTo(200_000),
  or('', printedIn(120)),
  or('', printedIn(120)),
  oneOf('own', 'shared', 'cpu'),
  count,
  or(0, count)
);

/** One function. whole: each operation has its box; else the largest groups have one for each kind. */
export interface IDrawing {
  function: string;
  operations: number;
  shown: number;
  groups: number;
  whole: boolean;
  box: ISize;
  size: ISize;
  frames: IFrame[];
  boxes: IBox[];
  reasons: Sentence[];
  arrows: ICorner[][];
  moreArrows: number;
}

export const readDrawing: Reader<IDrawing> = shape(
  {
    operations: count,
    box: readSize,
    size: readSize,
    frames: allOf(readFrame, 500),
    boxes: allOf(readBox, 500)
  },
  {
    function: or('', printedIn(120)),
    shown: or(0, count),
    groups: or(0, count),
    whole: flag,
    reasons: listOf(said, 500),
    arrows: listOf(readWay, 1000),
    moreArrows: or(0, count)
  }
);

/** The functions of a plan, and how many operations are of which kind. */
export interface IGraph {
  target: ITarget | null;
  counts: ICounts;
  drawings: IDrawing[];
  moreFunctions: number;
}

export const readGraph: Reader<IGraph> = shape(
  {
    counts: readCounts
  },
  {
    target: readTarget,
    drawings: listOf(readDrawing),
    moreFunctions: or(0, count)
  }
);
