/** The lanes of a cell's strip, as record/strip.py has them: what the CPU and the GPUs did when. */

import { amount, count, listOf, named, or, shape, text, word } from '../language/untrusted';
import type { Read } from '../language/untrusted';
import type { IRecord } from './record';
import { known } from './words';

/** Bins of a lane, at most. */
const BINS = 240;
/** The part of the wall time that may be missing from the legend. */
const UNSEEN = 0.02;
/** The digit of a bin in which a GPU worked all the time. */
const FULL = 9;

/** What a cell's thread did, by the letter of a bin, and what else a part of a strip may be. */
export const KINDS = new Map([
  ['p', 'stripPython'],
  ['n', 'stripNative'],
  ['i', 'stripImporting'],
  ['c', 'stripCompiling'],
  ['w', 'stripWaiting'],
  ['kernels', 'stripKernels'],
  ['copies', 'stripCopies'],
  ['unseen', 'stripNotSampled']
] as const);

type Name<T> = T extends ReadonlyMap<infer K, unknown> ? K : never;
export type Kind = Name<typeof KINDS>;

const bins = (value: unknown): string => text(value, BINS) ?? '';

const readSpent = shape({ did: word }, { seconds: or(0, amount) });

export const readHostLane = shape(
  {},
  { seconds: or(0, amount), did: bins, spent: listOf(readSpent) }
);

export const readGpuLane = shape(
  {},
  {
    seconds: or(0, amount),
    kernels: bins,
    copies: bins,
    kernelSeconds: named('kernel_seconds', or(0, amount)),
    copySeconds: named('copy_seconds', or(0, amount))
  }
);

export type IGpuLane = Read<typeof readGpuLane>;

/** The lanes of a cell that runs. */
export const readStripSoFar = shape(
  { sequence: count, seconds: amount },
  { host: readHostLane, gpus: listOf(shape({ device: word, lane: readGpuLane }, {})) }
);

export type IStripSoFar = Read<typeof readStripSoFar>;
type IHostLane = NonNullable<Read<typeof readHostLane>>;

/** A part of a lane: from where to where, in seconds, and how much of its height, from and to, from 0 to 1. */
export interface IBox {
  kind: Kind;
  from: number;
  to: number;
  bottom: number;
  top: number;
}

export interface ILane {
  /** The GPU; null: the CPU. */
  device: string | null;
  boxes: IBox[];
  /** What it did, and for how many seconds; these add up. */
  sums: { kind: Kind; seconds: number }[];
}

/** Seconds until the code and what it gave to GPUs had ended. */
export function durationOf(record: IRecord): number {
  const wall = known(record, 'wall_time')?.value ?? 0;
  const wentOn = Math.max(0, ...record.gpuWork.map(work => work.wentOn));
  return record.asynchronous ? wall + wentOn : wall;
}

/** The lanes that are known; none for a short cell. */
export function lanesOf(record: IRecord): ILane[] {
  const wall = known(record, 'wall_time')?.value ?? 0;
  const gpus = record.gpuWork.flatMap(({ device, lane }) => (lane ? [gpuLane(device, lane)] : []));
  return [...hostLane(record.hostLane, wall), ...gpus];
}

/** Why a lane that one would look for is not there, which is not idle; null: none is missing. */
export function notDrawn(record: IRecord): 'stripNoCpu' | 'stripCoarse' | 'stripNoGpu' | null {
  if (record.hostLane === null) {
    return 'stripNoCpu';
  }
  const times = record.readings.filter(({ quantity }) => quantity === 'device_time');
  // What a driver counts for the process is coarse.
  if (times.some(({ scope, value }) => scope === 'process' && (value ?? 0) > 0)) {
    return 'stripCoarse';
  }
  const ran = record.ranOn?.some(({ kind }) => kind !== 'cpu') ?? false;
  return ran && times.every(({ value }) => value === null) ? 'stripNoGpu' : null;
}

/** The same of a cell that runs. */
export function lanesSoFar({ seconds, host, gpus }: IStripSoFar): ILane[] {
  return [...hostLane(host, seconds), ...gpus.map(({ device, lane }) => gpuLane(device, lane))];
}

function isKind(name: string): name is Kind {
  return (KINDS as ReadonlyMap<string, string>).has(name);
}

function hostLane(lane: IHostLane | null, wall: number): ILane[] {
  if (lane === null || lane.did === '') {
    return [];
  }
  const sums = lane.spent.flatMap(({ did, seconds }) =>
    isKind(did) ? [{ kind: did, seconds }] : []
  );
  const unseen = wall - sums.reduce((sum, one) => sum + one.seconds, 0);
  if (unseen > UNSEEN * wall) {
    sums.push({ kind: 'unseen', seconds: unseen });
  }
  const boxes = runs(lane.did.split('')).flatMap(({ at, count, what }) =>
    isKind(what)
      ? [
          {
            kind: what,
            from: at * lane.seconds,
            to: (at + count) * lane.seconds,
            bottom: 0,
            top: 1
          }
        ]
      : []
  );
  return [{ device: null, boxes, sums }];
}

function gpuLane(device: string, lane: IGpuLane): ILane {
  const levels = lane.kernels
    .split('')
    .map((level, number) => `${level}${lane.copies[number] ?? '0'}`);
  const boxes = runs(levels).flatMap(({ at, count, what }) => {
    const [kernels = 0, copies = 0] = what.split('').map(digit => (Number(digit) || 0) / FULL);
    const place = { from: at * lane.seconds, to: (at + count) * lane.seconds };
    const stacked = [
      { kind: 'kernels' as const, ...place, bottom: 0, top: kernels },
      { kind: 'copies' as const, ...place, bottom: kernels, top: Math.min(1, kernels + copies) }
    ];
    return stacked.filter(({ bottom, top }) => top > bottom);
  });
  const sums = [
    { kind: 'kernels' as const, seconds: lane.kernelSeconds },
    { kind: 'copies' as const, seconds: lane.copySeconds }
  ];
  return { device, boxes, sums: sums.filter(({ seconds }) => seconds > 0) };
}

/** Neighbours that are the same: where they begin, how many, and what they are. */
function runs(values: readonly string[]): { at: number; count: number; what: string }[] {
  const found: { at: number; count: number; what: string }[] = [];
  values.forEach((what, at) => {
    const last = found[found.length - 1];
    if (last?.what === what) {
      last.count += 1;
    } else {
      found.push({ at, count: 1, what });
    }
  });
  return found;
}
