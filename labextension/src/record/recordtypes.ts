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

/** The cell (or traced block) that was measured. */
export const readCell = shape(
  { sequence: count },
  { id: text, executionCount: count, digest: named('source_digest', text), name: orText }
);

export type ICell = Read<typeof readCell>;

/** Seconds that the cell's thread spent on one activity, given by its letter. */
export const readSpent = shape({ did: text }, { seconds: or0Amount });

export type ISpent = Read<typeof readSpent>;

/** A line of the cell, or of an earlier cell if its execution count is given. */
export const readStripLine = shape({ line: count }, { cell: count });

export type IStripLine = Read<typeof readStripLine>;

/** The activity of the cell's thread: one letter per bin for its most frequent activity. */
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

/** The activity of a GPU for the cell: for each bin a digit from 0 (none) to 9 (all of it). */
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

/** The lanes of a cell that is still running, and its run time in seconds so far. */
export const readStripSoFar = shape(
  { sequence: count, seconds: amount, gpus: listOrNullOf(readDeviceLane) },
  { host: readHostLane }
);

export type IStripSoFar = Read<typeof readStripSoFar>;

/** All copies in one direction (host-to-device, ...) and the sum of their times in seconds. */
export const readCopySum = shape(
  { direction: text },
  { count: or0Count, bytes: or0Count, seconds: or0Amount }
);

export type ICopySum = Read<typeof readCopySum>;

/** All launches of one kernel and the sum of their times in seconds. */
export const readKernelSum = shape({ name: text }, { count: or0Count, seconds: or0Amount });

export type IKernelSum = Read<typeof readKernelSum>;

/** The work of a cell that ran on one GPU (gpu:0). */
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

/** The lines of one stream in a cell's output, counted by their ends. */
export const readStreamLines = shape(
  { lines: count },
  { native: listOf(tupleOf<[number, number]>(2, count, count), 200) }
);

export type IStreamLines = Read<typeof readStreamLines>;

/** The native lines of a cell's output by stream, and what the message catalogue knows about them. */
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

/** The number of a run among those of a cell that repeats. */
export const readRepeat = shape(
  { number: count, of: count },
  { walls: or([], placesOf(amount, 1002)) }
);

export type IRepeat = Read<typeof readRepeat>;

/** One native log message of the cell. id is null if the message is not in the catalogue. */
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
    evidence: oneOf(
      'counted',
      'only device',
      'allocator',
      'results',
      'driver',
      'values',
      'default device'
    )
  }
);

export type IRanOn = Read<typeof readRanOn>;

export const readOutcome = oneOf('ok', 'error', 'interrupted');

export type Outcome = Read<typeof readOutcome>;

export const readMode = oneOf('light', 'profiled', 'checked');

export type Mode = Read<typeof readMode>;

export const readOrigin = oneOf('live', 'loaded', 'replayed');

export type Origin = Read<typeof readOrigin>;
