/**
 * The graph of a plan, as `%mlc_plan` leaves it in a notebook: its shape for who draws it, and the only way in.
 *
 * Where boxes stand has been worked out in Python (jupyter_mlgpu/show/planning/live.py).
 */

import { readGraph as readKnown } from './graphtypes';
import type * as wire from './graphtypes';
import type { Sentence } from '../language/sentence';
import { object } from '../language/untrusted';

export type { ICorner } from './ways';

/** By kernels of the device's own, by TensorFlow's own for any device, or on the CPU. */
export const KINDS = ['own', 'shared', 'cpu'] as const;

export type Kind = (typeof KINDS)[number];

export interface IGraph extends Omit<wire.IGraph, 'target' | 'drawings'> {
  target: string;
  /** Of this target layers are known, not kernels, and what else serves it only holds or passes on tensors. */
  layers: boolean;
  drawings: IDrawing[];
}

/** One function of the graph. */
export interface IDrawing extends Omit<wire.IDrawing, 'function' | 'size' | 'boxes'>, wire.ISize {
  name: string;
  boxes: IBox[];
}

/** An operation, or as many of its kind as `count` says. */
export interface IBox extends Omit<wire.IBox, 'reason'>, wire.ISize {
  reason: Sentence;
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

function drawing({ function: name, size, ...told }: wire.IDrawing): IDrawing[] {
  const boxes = told.boxes.map(box => {
    return { ...box, ...told.box, reason: told.reasons[box.reason ?? -1] ?? '' };
  });
  return told.box.width > 0 && told.box.height > 0 ? [{ ...told, ...size, name, boxes }] : [];
}
