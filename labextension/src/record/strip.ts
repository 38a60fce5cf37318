/** The lanes of a cell's strip, as record/strip.py has them: what the CPU and the GPUs did when. */

import type { IRecord } from './record';
import type { IGpuLane, IHostLane, IStripLine, IStripSoFar } from './recordtypes';
import { known } from './words';

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

/** A part of a lane: from where to where, in seconds, and how much of its height, from and to, from 0 to 1. */
export interface IBox {
  kind: Kind;
  from: number;
  to: number;
  bottom: number;
  top: number;
  /** The line that ran most, of another cell with its number. */
  line?: IStripLine;
  /** The kernel that ran most. */
  kernel?: string;
  /** Of several GPUs: what part of the time each one worked. */
  each?: { device: string; share: number }[];
}

export interface ILane {
  /** The GPU; null: the CPU. */
  device: string | null;
  boxes: IBox[];
  /** What it did, and for how many seconds; these add up. */
  sums: { kind: Kind; seconds: number }[];
  /** Seconds until which it is known; null: all of the cell. */
  until: number | null;
}

interface IDevice {
  device: string;
  lane: IGpuLane;
  kernels: readonly string[];
}

interface ILevels {
  device: string;
  kernels: number;
  copies: number;
  longest: string | undefined;
}

/** Seconds until the code and what it gave to GPUs had ended. */
export function durationOf(record: IRecord): number {
  const wall = known(record, 'wall_time')?.value ?? 0;
  const wentOn = Math.max(0, ...record.gpuWork.map(work => work.wentOn));
  return record.asynchronous ? wall + wentOn : wall;
}

/** The lanes that are known, one for each GPU; none for a short cell. */
export function lanesOf(record: IRecord): ILane[] {
  const wall = known(record, 'wall_time')?.value ?? 0;
  return [...hostLane(record.hostLane, wall), ...devicesOf(record).map(one => gpuLane(one))];
}

/** The same to draw: one for all GPUs together. */
export function drawnLanesOf(record: IRecord): ILane[] {
  const wall = known(record, 'wall_time')?.value ?? 0;
  return [...hostLane(record.hostLane, wall), ...together(devicesOf(record))];
}

function devicesOf({ gpuWork }: IRecord): IDevice[] {
  return gpuWork.flatMap(({ device, lane, kernels }) =>
    lane ? [{ device, lane, kernels: kernels.map(({ name }) => name) }] : []
  );
}

function together([first, ...others]: readonly IDevice[]): ILane[] {
  return first === undefined ? [] : [gpuLane(first, ...others)];
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

/** The lanes of a cell that runs, to draw. What a GPU did last is not known yet. */
export function lanesSoFar({ seconds, host, gpus }: IStripSoFar): ILane[] {
  const devices = gpus.map(({ device, lane }) => ({ device, lane, kernels: [] }));
  return [...hostLane(host, seconds), ...together(devices)];
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
  const unseen = wall - sum(sums.map(one => one.seconds));
  if (unseen > UNSEEN * wall) {
    sums.push({ kind: 'unseen', seconds: unseen });
  }
  const moments = lane.did.split('').map((did, number) => `${did}${lane.ran[number] ?? ' '}`);
  const boxes = runs(moments).flatMap(({ at, count, what }) => {
    const kind = what.charAt(0);
    const line = lane.lines[place(what.charAt(1))];
    const [from, to] = [at * lane.seconds, (at + count) * lane.seconds];
    return isKind(kind) ? [{ kind, from, to, bottom: 0, top: 1, ...(line && { line }) }] : [];
  });
  return [{ device: null, boxes, sums, until: null }];
}

/** Of one GPU or of several: the mean of their parts. */
function gpuLane(first: IDevice, ...others: readonly IDevice[]): ILane {
  const devices = [first, ...others];
  const { seconds } = first.lane;
  const length = Math.max(...devices.map(({ lane }) => lane.kernels.length));
  const bins = Array.from({ length }, (_, bin) => devices.map(one => levels(one, bin)));
  const boxes = runs(bins.map(bin => JSON.stringify(bin))).flatMap(({ at, count }): IBox[] => {
    const each = bins[at] ?? [];
    const kernels = mean(each.map(one => one.kernels));
    const copies = mean(each.map(one => one.copies));
    const span = {
      from: at * seconds,
      to: (at + count) * seconds,
      ...(others.length > 0 && {
        each: each.map(one => ({
          device: one.device,
          share: Math.min(1, one.kernels + one.copies)
        }))
      })
    };
    const kernel = others.length === 0 ? each[0]?.longest : undefined;
    const stacked: IBox[] = [
      { kind: 'kernels', ...span, bottom: 0, top: kernels, ...(kernel && { kernel }) },
      { kind: 'copies', ...span, bottom: kernels, top: Math.min(1, kernels + copies) }
    ];
    return stacked.filter(({ bottom, top }) => top > bottom);
  });
  const sums = [
    { kind: 'kernels' as const, seconds: sum(devices.map(({ lane }) => lane.kernelSeconds)) },
    { kind: 'copies' as const, seconds: sum(devices.map(({ lane }) => lane.copySeconds)) }
  ];
  return {
    device: others.length === 0 ? first.device : 'GPUs',
    boxes,
    sums: sums.filter(one => one.seconds > 0),
    until: length * seconds
  };
}

/** What a GPU did in a bin: the parts of it, from 0 to 1, and the kernel that ran most. */
function levels({ device, lane, kernels }: IDevice, bin: number): ILevels {
  const level = (digits: string): number => (Number(digits[bin] ?? '0') || 0) / FULL;
  const longest = kernels[place(lane.longest.charAt(bin))];
  return { device, kernels: level(lane.kernels), copies: level(lane.copies), longest };
}

/** The place that a character of a lane stands for; -1 for none. */
function place(character: string): number {
  return /^[0-9a-z]$/.test(character) ? parseInt(character, 36) : -1;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, one) => total + one, 0);
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
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
