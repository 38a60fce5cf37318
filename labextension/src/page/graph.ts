/**
 * The graph of a plan, as `%mlc_plan` leaves it in a notebook: its shape, and the only way in.
 *
 * The Python side of the same contract is jupyter_mlgpu/show/planning/live.py, which has worked out where boxes
 * stand.
 */

import { sentence } from '../language/sentence';
import type { Sentence } from '../language/sentence';
import { FEW, amount, choice, count, list, object, printed } from '../language/untrusted';

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

/** Of an arrow's way from the right side of one area to the left side of another, around all others. */
export interface ICorner {
  x: number;
  y: number;
}

/** As many as the kernel sends, and room for more. */
const BOXES = 500;
const ARROWS = 1_000;
const CORNERS = 2 * BOXES;
/** Letters of an arrow's way. */
const WAY = 12 * CORNERS;
/** Points of a drawing; what lies further out is nobody's graph. */
const FAR = 200_000;

/** Read a graph; null for anything else. */
export function readGraph(data: unknown): IGraph | null {
  const table = object(data);
  const counts = object(table?.counts);
  const [own, shared, cpu] = KINDS.map(kind => count(counts?.[kind]));
  if (own == null || shared == null || cpu == null) {
    return null;
  }
  const target = object(table?.target);
  return {
    target: name(target?.title),
    layers: target?.noun === 'layer',
    counts: { own, shared, cpu },
    drawings: list(table?.drawings, FEW, readDrawing),
    moreFunctions: count(table?.more_functions) ?? 0
  };
}

/** A drawing, or null where a part of it cannot be read: half of a graph would tell something else. */
function readDrawing(data: unknown): IDrawing | null {
  const table = object(data);
  const [width, height] = numbers(table?.size);
  const [boxWidth, boxHeight] = numbers(table?.box);
  const operations = count(table?.operations);
  if (operations === null || width == null || height == null || !boxWidth || !boxHeight) {
    return null;
  }
  const reasons = list(table?.reasons, BOXES, item => sentence(item) ?? '');
  const boxes = all(table?.boxes, item => readBox(item, boxWidth, boxHeight, reasons));
  const frames = all(table?.frames, readFrame);
  if (boxes === null || frames === null) {
    return null;
  }
  return {
    name: name(table?.function),
    operations,
    shown: count(table?.shown) ?? 0,
    groups: count(table?.groups) ?? 0,
    whole: table?.whole === true,
    width,
    height,
    boxWidth,
    boxHeight,
    frames,
    boxes,
    arrows: list(table?.arrows, ARROWS, readArrow),
    moreArrows: count(table?.more_arrows) ?? 0
  };
}

function readBox(data: unknown, width: number, height: number, reasons: Sentence[]): IBox | null {
  const [left, top, operation, own, place, reason, times] = items(data);
  const [x, y] = [far(left), far(top)];
  const kind = choice(place, KINDS);
  if (x === null || y === null || kind === null) {
    return null;
  }
  return {
    x,
    y,
    width,
    height,
    operation: name(operation),
    name: name(own),
    kind,
    reason: reasons[count(reason) ?? -1] ?? '',
    count: count(times) ?? 0
  };
}

function readFrame(data: unknown): IFrame | null {
  const [x, y, width, height] = numbers(data);
  const [, , , , operations, hidden] = items(data);
  return x == null || y == null || width == null || height == null
    ? null
    : { x, y, width, height, operations: count(operations) ?? 0, hidden: count(hidden) ?? 0 };
}

/** The corners of an arrow, which stand in a text: `188 20 214 20`. */
function readArrow(data: unknown): ICorner[] | null {
  if (typeof data !== 'string' || data.length > WAY || !/^-?\d+( -?\d+){3,}$/.test(data)) {
    return null;
  }
  const numbers = data.split(' ').map(Number);
  const corners: ICorner[] = [];
  for (let at = 0; at + 1 < numbers.length && corners.length < CORNERS; at += 2) {
    const [x = 0, y = 0] = numbers.slice(at, at + 2);
    corners.push({ x, y });
  }
  return numbers.every(one => Math.abs(one) <= FAR) ? corners : null;
}

/** All items, or null where one of them cannot be read, or they are too many. */
function all<T>(data: unknown, read: (item: unknown) => T | null): T[] | null {
  const known = list(data, BOXES, read);
  return Array.isArray(data) && data.length === known.length ? known : null;
}

function items(data: unknown): unknown[] {
  return Array.isArray(data) ? data : [];
}

function numbers(data: unknown): (number | null)[] {
  return items(data).slice(0, 4).map(far);
}

function far(value: unknown): number | null {
  const known = amount(value);
  return known !== null && known <= FAR ? known : null;
}

/** A name of the user's or of TensorFlow's, with the characters that one does not see written out. */
function name(value: unknown): string {
  return printed(value, NAME) ?? '';
}

const NAME = 120;
