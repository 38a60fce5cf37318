/**
 * What would run where, as `%mlc_plan` leaves it in a notebook: its shape, and the only way in.
 *
 * The Python side of the same contract is jupyter_mlgpu/planning/bundle.py, which has worked out where
 * boxes stand.
 */

import {
  FEW,
  LONG,
  amount,
  choice,
  count,
  list,
  object,
  pairs,
  printed,
  versioned
} from './untrusted';
import type { Unreadable } from './untrusted';

export const PLAN_TYPE = 'application/vnd.jupyter-mlgpu.plan+json';

const SCHEMA = 1;

/** By kernels of the device's own, by TensorFlow's own for any device, or on the CPU. */
export const KINDS = ['own', 'shared', 'cpu'] as const;

export type Kind = (typeof KINDS)[number];

export interface IPlan {
  subject: string;
  target: string;
  /** Of this target layers are known, not kernels, and what else serves it only holds or passes on tensors. */
  layers: boolean;
  /** Whose kernels were looked up. */
  table: string;
  operations: number;
  counts: Record<Kind, number>;
  subgraphs: { name: string; operations: number; own: number }[];
  fallbacks: IFallback[];
  knownBytes: number;
  unknownSizes: number;
  crossings: ICrossing[];
  drawings: IDrawing[];
  notes: string[];
  /** What is not here, and how many. */
  cut: ReadonlyMap<string, number>;
}

export interface IFallback {
  operation: string;
  reason: string;
  count: number;
  nodes: string[];
}

export interface ICrossing {
  tensor: string;
  type: string;
  to: 'host' | 'device';
  /** null: not known, and `whyMissing` says why. */
  bytes: number | null;
  whyMissing: string;
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
  arrows: IArrow[];
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
  reason: string;
  /** For how many operations it stands; 0: for the one of its name. */
  count: number;
}

export interface IArea {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** From the right side of one area to the left side of another. */
export interface IArrow {
  from: IArea;
  to: IArea;
}

/** As many as the kernel sends, and room for more. */
const BOXES = 500;
const ARROWS = 1_000;
const ROWS = 200;
/** Points of a drawing; what lies further out is nobody's graph. */
const FAR = 200_000;

/** Read a plan, or say why it cannot be read. */
export function readPlan(data: unknown): IPlan | Unreadable {
  const table = versioned(data, SCHEMA);
  if (typeof table === 'string') {
    return table;
  }
  const counts = object(table.counts);
  const operations = count(table.operations);
  const [own, shared, cpu] = KINDS.map(kind => count(counts?.[kind]));
  if (operations === null || own == null || shared == null || cpu == null) {
    return 'invalid';
  }
  const target = object(table.target);
  const crossing = object(table.crossing);
  return {
    subject: name(table.subject),
    target: name(target?.title),
    layers: target?.noun === 'layer',
    table: name(table.table),
    operations,
    counts: { own, shared, cpu },
    subgraphs: list(table.subgraphs, ROWS, readSubgraph),
    fallbacks: list(table.fallbacks, ROWS, readFallback),
    knownBytes: count(crossing?.known_bytes) ?? 0,
    unknownSizes: count(crossing?.unknown_sizes) ?? 0,
    crossings: list(crossing?.tensors, ROWS, readCrossing),
    drawings: list(table.drawings, FEW, readDrawing),
    notes: list(table.notes, FEW, item => printed(item, LONG)),
    cut: new Map(pairs(table.cut, count))
  };
}

function readSubgraph(data: unknown): IPlan['subgraphs'][number] | null {
  const table = object(data);
  const operations = count(table?.operations);
  return operations === null
    ? null
    : { name: name(table?.function), operations, own: count(table?.own) ?? 0 };
}

function readFallback(data: unknown): IFallback | null {
  const table = object(data);
  const times = count(table?.count);
  return times === null
    ? null
    : {
        operation: name(table?.operation),
        reason: printed(table?.reason, LONG) ?? '',
        count: times,
        nodes: list(table?.nodes, FEW, name)
      };
}

function readCrossing(data: unknown): ICrossing | null {
  const table = object(data);
  const to = choice(table?.to, ['host', 'device'] as const);
  return to === null
    ? null
    : {
        tensor: name(table?.tensor),
        type: name(table?.type),
        to,
        bytes: count(table?.bytes),
        whyMissing: printed(table?.why_missing, LONG) ?? ''
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
  const reasons = list(table?.reasons, BOXES, item => printed(item, LONG) ?? '');
  const boxes = all(table?.boxes, item => readBox(item, boxWidth, boxHeight, reasons));
  const frames = all(table?.frames, readFrame);
  if (boxes === null || frames === null) {
    return null;
  }
  const whole = table?.whole === true;
  const ends = whole ? boxes : frames;
  return {
    name: name(table?.function),
    operations,
    shown: count(table?.shown) ?? 0,
    groups: count(table?.groups) ?? 0,
    whole,
    width,
    height,
    boxWidth,
    boxHeight,
    frames,
    boxes,
    arrows: list(table?.arrows, ARROWS, item => readArrow(item, ends)),
    moreArrows: count(table?.more_arrows) ?? 0
  };
}

function readBox(data: unknown, width: number, height: number, reasons: string[]): IBox | null {
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

function readArrow(data: unknown, ends: readonly IArea[]): IArrow | null {
  const [from, to] = items(data).map(end => ends[count(end) ?? -1]);
  return from && to ? { from, to } : null;
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
