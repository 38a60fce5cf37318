/**
 * The graph of a plan, as `%mlc_plan` leaves it in a notebook: its shape for who draws it, and the only way in.
 *
 * Where boxes stand has been worked out in Python (jupyter_mlgpu/show/planning/live.py).
 */

import { readGraph as readKnown } from './graphtypes';
import type * as wire from './graphtypes';
import type { ICorner } from './ways';
import type { Sentence } from '../language/sentence';
import { object } from '../language/untrusted';

export type { ICorner } from './ways';

/** By kernels of the device's own, by TensorFlow's own for any device, or on the CPU. */
export const KINDS = ['own', 'shared', 'cpu'] as const;

export type Kind = (typeof KINDS)[number];

export interface IGraph {
  target: string;
  /** Of this target layers are known, not kernels, and what else serves it only holds or passes on tensors. */
  layers: boolean;
  counts: Record<Kind, number>;
  drawings: IDrawing[];
  moreFunctions: number;
}

/** One function of the graph. */
export interface IDrawing {
  name: string;
  operations: number;
  shown: number;
  groups: number;
  /** Each operation has its box; else the largest groups have one for each kind of operation. */
  whole: boolean;
  width: number;
  height: number;
  boxWidth: number;
  boxHeight: number;
  frames: IFrame[];
  boxes: IBox[];
  arrows: ICorner[][];
  moreArrows: number;
}

/** Operations that can run as a whole. */
export interface IFrame extends IArea {
  operations: number;
  /** Of these, no box tells. */
  hidden: number;
}

export interface IBox extends IArea {
  operation: string;
  name: string;
  kind: Kind;
  reason: Sentence;
  /** For how many operations it stands; 0: for the one of its name. */
  count: number;
}

export interface IArea {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Read the part of a page that is a graph; null for anything else. */
export function readLive(part: unknown): IGraph | null {
  const { kind, data } = object(part) ?? {};
  return kind === 'graph' ? readGraph(data) : null;
}

/** Read a graph; null for anything else. */
export function readGraph(data: unknown): IGraph | null {
  const graph = readKnown(data);
  return (
    graph && {
      ...graph,
      target: graph.target?.title ?? '',
      layers: graph.target?.noun === 'layer',
      drawings: graph.drawings.flatMap(drawing)
    }
  );
}

function drawing(told: wire.IDrawing): IDrawing[] {
  const { width, height } = told.size;
  const { width: boxWidth, height: boxHeight } = told.box;
  const size = { width, height, boxWidth, boxHeight };
  const boxes = told.boxes.map(box => {
    const reason = told.reasons[box.reason ?? -1] ?? '';
    return { ...box, width: boxWidth, height: boxHeight, reason };
  });
  const known = { ...told, name: told.function, ...size, boxes };
  return boxWidth > 0 && boxHeight > 0 ? [known] : [];
}
