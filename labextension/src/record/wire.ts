/**
 * A record as a kernel sends it and a notebook has it: jupyter_mlgpu/record/record.py.
 *
 * Made by scripts/readers.py of Python's types (`make schemas`).
 */

import { readCell } from './cell';
import { readGpuWork, readHostLane, readNativeOutput, readRanOn, readRepeat } from './recordtypes';
import { said, sentence } from '../language/sentence';
import {
  amount,
  count,
  flag,
  listOf,
  listOrNullOf,
  oneOf,
  or,
  pairsOf,
  printedIn,
  shape,
  text,
  word
} from '../language/untrusted';
import type { Read } from '../language/untrusted';

const orText = or('', text);
const printedIn200 = printedIn(200);

/** One kernel process (or script) from start to end. */
export const readRun = shape({ id: word }, { notebook: text });

export type IRun = Read<typeof readRun>;

/** The devices that were requested, and those on which the work ran (null: unknown, see why_missing). */
export const readDeviceUse = shape(
  {},
  { requested: pairsOf(text), ranOn: listOrNullOf(readRanOn) }
);

export type IDeviceUse = Read<typeof readDeviceUse>;

/** One measured quantity, or the reason why it could not be measured. */
export const readReading = shape(
  { quantity: word },
  { value: amount, scope: or('cell', oneOf('cell', 'process', 'device', 'machine')) }
);

export type IReading = Read<typeof readReading>;

/** The time of one operation in a profiled cell, in seconds. It is longer than in a light run. */
export const readOpStat = shape(
  { name: printedIn200, count: count, selfTime: amount, totalTime: amount },
  {
    type: or('', printedIn200),
    device: orText,
    profiler: said,
    plane: oneOf('host', 'device'),
    share: amount,
    shapes: printedIn200,
    bytes: count,
    flops: amount
  }
);

export type IOpStat = Read<typeof readOpStat>;

/** A line of a cell's code with the number of stack samples that were in it. */
export const readHotLine = shape(
  { line: count, samples: count, share: amount, low: amount, high: amount },
  { cell: count, calls: text }
);

export type IHotLine = Read<typeof readHotLine>;

/** Everything known about one cell. */
export const readRecord = shape(
  {
    run: readRun,
    cell: readCell,
    outcome: oneOf('ok', 'error', 'interrupted'),
    device: readDeviceUse
  },
  {
    startedAt: orText,
    readings: listOf(readReading),
    ops: listOf(readOpStat, 1000),
    versions: pairsOf(text),
    mode: or('light', oneOf('light', 'profiled', 'checked')),
    origin: or('live', oneOf('live', 'loaded', 'replayed')),
    notes: listOf(sentence),
    lines: listOf(readHotLine),
    native: readNativeOutput,
    gpuWork: listOf(readGpuWork),
    asynchronous: flag,
    hostLane: readHostLane,
    repeat: readRepeat
  }
);

export type IRecord = Read<typeof readRecord>;

/** The head as the browser gets it, with figures by their names. Empty parts are left out. */
export const readHead = shape(
  {},
  {
    label: said,
    figures: pairsOf(sentence),
    doubt: said,
    cause: said,
    kind: orText,
    messages: listOf(sentence),
    folded: flag
  }
);

export type IHead = Read<typeof readHead>;
