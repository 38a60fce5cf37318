/**
 * Reads the graph of a plan, as `%mlc_plan` writes it into a notebook.
 *
 * Python has computed all positions (jupyter_mlgpu/show/planning/live.py).
 */

import { readGraph as readKnown } from './graphtypes';
import type * as wire from './graphtypes';
import type { Sentence } from '../language/sentence';
import { object } from '../language/untrusted';

export type { ICorner } from './ways';

/** The device's own kernels, TensorFlow's kernels for any device, or the CPU. */
export const KINDS = ['own', 'shared', 'cpu'] as const;

export type Kind = (typeof KINDS)[number];

export interface IGraph extends Omit<wire.IGraph, 'target' | 'drawings'> {
  target: string;
  /**
   * True if layers are known of this target and not kernels; other operations only hold or pass on tensors.
   */
  layers: boolean;
  drawings: IDrawing[];
}

/** One function of the graph. */
export interface IDrawing extends Omit<wire.IDrawing, 'function' | 'size' | 'boxes'>, wire.ISize {
  name: string;
  boxes: IBox[];
}

/** An operation, or `count` operations of one kind. */
export interface IBox extends Omit<wire.IBox, 'reason'>, wire.ISize {
  reason: Sentence;
}

/** Read a part of a page that is a graph; null for anything else. */
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

function drawing({ function: name, size, ...others }: wire.IDrawing): IDrawing[] {
  const boxes = others.boxes.map(box => {
    return { ...box, ...others.box, reason: others.reasons[box.reason ?? -1] ?? '' };
  });
  return others.box.width > 0 && others.box.height > 0 ? [{ ...others, ...size, name, boxes }] : [];
}
