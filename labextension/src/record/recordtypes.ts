/**
 * Parts of a record that the kernel sends: jupyter_mlgpu/record.
 *
 * Made by scripts/readers.py of Python's types (`make schemas`).
 */

import { readFields } from './logfields';
import { sentence } from '../language/sentence';
import {
  amount,
  count,
  flag,
  listOf,
  listOrNullOf,
  named,
  oneOf,
  or,
  pairsOf,
  placesOf,
  printedIn,
  shape,
  text,
  textIn,
  tupleOf,
  word
} from '../language/untrusted';
import type { Read } from '../language/untrusted';

export const TEXT_LIMIT = 8000;

const or0Count = or(0, count);
const orText = or('', text);
const or0Amount = or(0, amount);
const orTextIn240 = or('', textIn(240));

/** Which cell (or traced block) was measured; with the run's id, sequence identifies a record. */
export const readCell = shape(
  { sequence: count },
  { id: text, executionCount: count, digest: named('source_digest', text), name: orText }
);

export type ICell = Read<typeof readCell>;

/** Seconds in which the cell's thread did one thing, by its letter. */
export const readSpent = shape({ did: text }, { seconds: or0Amount });

export type ISpent = Read<typeof readSpent>;

/** A line of the cell, or of the cell with this execution count where that is another one. */
export const readStripLine = shape({ line: count }, { cell: count });

export type IStripLine = Read<typeof readStripLine>;

/** What the cell's thread did: in each bin of so many seconds what it did most, as a letter. */
export const readHostLane = shape(
  {},
  {
    seconds: or0Amount,
    did: orTextIn240,
    spent: listOf(readSpent),
    ran: orTextIn240,
    lines: listOf(readStripLine)
  }
);

export type IHostLane = Read<typeof readHostLane>;

/** What a GPU did of the cell's work: in each bin a digit, from 0 (nothing) to 9 (all of it). */
export const readGpuLane = shape(
  {},
  {
    seconds: or0Amount,
    kernels: orTextIn240,
    copies: orTextIn240,
    kernelSeconds: or0Amount,
    copySeconds: or0Amount,
    longest: orTextIn240
  }
);

export type IGpuLane = Read<typeof readGpuLane>;

/** A GPU (gpu:0) and its lane. */
export const readDeviceLane = shape({ device: text, lane: readGpuLane }, {});

export type IDeviceLane = Read<typeof readDeviceLane>;

/** The lanes of the cell with this number, which has run for so many seconds and goes on. */
export const readStripSoFar = shape(
  { sequence: count, seconds: amount, gpus: listOrNullOf(readDeviceLane) },
  { host: readHostLane }
);

export type IStripSoFar = Read<typeof readStripSoFar>;

/** All copies in one direction (host-to-device, ...): seconds is the sum of their times. */
export const readCopySum = shape(
  { direction: text },
  { count: or0Count, bytes: or0Count, seconds: or0Amount }
);

export type ICopySum = Read<typeof readCopySum>;

/** All launches of one kernel: seconds is the sum of their times. */
export const readKernelSum = shape({ name: text }, { count: or0Count, seconds: or0Amount });

export type IKernelSum = Read<typeof readKernelSum>;

/** What a GPU (gpu:0) did of the work that a cell launched. */
export const readGpuWork = shape(
  { device: text },
  {
    launches: or0Count,
    kernelSeconds: or0Amount,
    copies: listOf(readCopySum),
    kernels: listOf(readKernelSum),
    wentOn: or(0.0, amount),
    lane: readGpuLane,
    earlier: or(0.0, amount)
  }
);

export type IGpuWork = Read<typeof readGpuWork>;

/** Lines of a stream in a cell's output, counted by their ends. */
export const readStreamLines = shape(
  { lines: count },
  { native: listOf(tupleOf<[number, number]>(2, count, count), 200) }
);

export type IStreamLines = Read<typeof readStreamLines>;

/** What of a cell's output is native, by stream, and what the catalogue knows of it. */
export const readNativeOutput = shape(
  {},
  {
    streams: pairsOf(readStreamLines),
    families: listOf(text),
    namingDevices: listOf(text),
    ours: listOf(or('', printedIn(8000)), 100)
  }
);

export type INativeOutput = Read<typeof readNativeOutput>;

/** Which run of a cell that repeats a record is. */
export const readRepeat = shape(
  { number: count, of: count },
  { walls: or([], placesOf(amount, 1002)) }
);

export type IRepeat = Read<typeof readRepeat>;

/** One native log message of the cell; id is null where it is not known what it means. */
export const readLogLine = shape(
  { text: printedIn(8000), fields: readFields },
  {
    id: text,
    verdict: or('unknown', oneOf('harmless', 'info', 'performance', 'action', 'fatal', 'unknown')),
    meaning: printedIn(1200),
    advice: printedIn(1200),
    count: or(1, count),
    stream: orText,
    time: text,
    late: flag
  }
);

export type ILogLine = Read<typeof readLogLine>;

/** One device on which operations of the cell ran. */
export const readRanOn = shape(
  { device: word },
  {
    framework: or('', word),
    kind: orText,
    nativeName: text,
    operations: count,
    share: amount,
    whyMissing: sentence,
    evidence: oneOf('counted', 'only device', 'allocator', 'results', 'driver')
  }
);

export type IRanOn = Read<typeof readRanOn>;

export const readOutcome = oneOf('ok', 'error', 'interrupted');

export type Outcome = Read<typeof readOutcome>;

export const readMode = oneOf('light', 'profiled');

export type Mode = Read<typeof readMode>;

export const readOrigin = oneOf('live', 'loaded', 'replayed');

export type Origin = Read<typeof readOrigin>;
