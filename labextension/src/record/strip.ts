/** The lanes of a cell's strip, the activity of the CPU and the GPUs over time, as in record/strip.py. */

import type { IRecord } from './record';
import type { IGpuLane, IHostLane, IStripLine, IStripSoFar } from './recordtypes';
import { known } from './words';

/** Part of the wall time that may be missing from the legend. */
const UNSEEN = 0.02;
/** Digit of a bin in which a GPU worked all the time. */
const FULL = 9;

/** Kinds of activity with their names: a letter in the bins of the CPU's lane, or a word. */
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

/** A part of a lane: its time in seconds, and its vertical extent from 0 to 1. */
export interface IBox {
  kind: Kind;
  from: number;
  to: number;
  bottom: number;
  top: number;
  /** The line with the most samples, with the number of its cell if that is another one. */
  line?: IStripLine;
  /** The kernel that ran longest. */
  kernel?: string;
  /** Share of the time that each of several GPUs worked. */
  each?: { device: string; share: number }[];
}

export interface ILane {
  /** Name of the GPU; null for the CPU. */
  device: string | null;
  boxes: IBox[];
  /** Seconds by kind of activity; they add up. */
  sums: { kind: Kind; seconds: number }[];
  /** Seconds until which the lane is known; null if it is known to the end. */
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

/** Return the seconds until the code and its work on GPUs had ended. */
export function durationOf(record: IRecord): number {
  const wall = known(record, 'wall_time')?.value ?? 0;
  const wentOn = Math.max(0, ...record.gpuWork.map(work => work.wentOn));
  return record.asynchronous ? wall + wentOn : wall;
}

/** Return the known lanes, one for each GPU; none for a short cell. */
export function lanesOf(record: IRecord): ILane[] {
  const wall = known(record, 'wall_time')?.value ?? 0;
  return [...hostLane(record.hostLane, wall), ...devicesOf(record).map(one => gpuLane(one))];
}

/** Return the lanes to draw, with all GPUs in one. */
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

/** Return why an expected lane is missing, which does not mean idle; null if none is. */
export function notDrawn(record: IRecord): 'stripNoCpu' | 'stripCoarse' | 'stripNoGpu' | null {
  if (record.hostLane === null) {
    return 'stripNoCpu';
  }
  const times = record.readings.filter(({ quantity }) => quantity === 'device_time');
  // A driver's figure for the process is too coarse for a lane.
  if (times.some(({ scope, value }) => scope === 'process' && (value ?? 0) > 0)) {
    return 'stripCoarse';
  }
  const ran = record.ranOn?.some(({ kind }) => kind !== 'cpu') ?? false;
  return ran && times.every(({ value }) => value === null) ? 'stripNoGpu' : null;
}

/** Return the lanes of a running cell. The last activity of a GPU is not known yet. */
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

/** Return the lane of one GPU, or the mean of several. */
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

/** Return the activity of a GPU in a bin, from 0 to 1, and the kernel that ran longest. */
function levels({ device, lane, kernels }: IDevice, bin: number): ILevels {
  const level = (digits: string): number => (Number(digits[bin] ?? '0') || 0) / FULL;
  const longest = kernels[place(lane.longest.charAt(bin))];
  return { device, kernels: level(lane.kernels), copies: level(lane.copies), longest };
}

/** Return the index that a character of a lane stands for; -1 for none. */
function place(character: string): number {
  return /^[0-9a-z]$/.test(character) ? parseInt(character, 36) : -1;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, one) => total + one, 0);
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

/** Return runs of equal neighbours: index, count and value. */
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
