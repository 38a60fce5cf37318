/**
 * A record as a kernel sends it and a notebook has it: jupyter_mlgpu/record/record.py.
 *
 * Made by scripts/readers.py of Python's types (`make schemas`).
 */

import { readCell } from './cell';
import type { ICell } from './cell';
import { readGpuWork, readHostLane, readNativeOutput, readRanOn, readRepeat } from './recordtypes';
import type { IGpuWork, IHostLane, INativeOutput, IRanOn, IRepeat } from './recordtypes';
import { said, sentence } from '../language/sentence';
import type { Sentence } from '../language/sentence';
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
import type { Reader } from '../language/untrusted';

const printedIn200 = printedIn(200);

/** One kernel process (or script) from start to end. */
export interface IRun {
  id: string;
  notebook: string | null;
}

export const readRun: Reader<IRun> = shape(
  {
    id: word
  },
  {
    notebook: text
  }
);

/** The devices asked for, and those the work really ran on (null: not known, see why_missing). */
export interface IDeviceUse {
  requested: [name: string, value: string][];
  ranOn: IRanOn[] | null;
}

export const readDeviceUse: Reader<IDeviceUse> = shape(
  {},
  {
    requested: pairsOf(text),
    ranOn: listOrNullOf(readRanOn)
  }
);

/** One measured quantity, or the reason why it could not be measured. */
export interface IReading {
  quantity: string;
  value: number | null;
  scope: 'cell' | 'process' | 'device' | 'machine';
}

export const readReading: Reader<IReading> = shape(
  {
    quantity: word
  },
  {
    value: amount,
    scope: or('cell', oneOf('cell', 'process', 'device', 'machine'))
  }
);

/** Time of one operation in a profiled cell; times in seconds, longer than in a light run. */
export interface IOpStat {
  name: string;
  type: string;
  device: string;
  count: number;
  selfTime: number;
  totalTime: number;
  profiler: Sentence;
  plane: 'host' | 'device' | null;
  share: number | null;
  shapes: string | null;
  bytes: number | null;
  flops: number | null;
}

export const readOpStat: Reader<IOpStat> = shape(
  {
    name: printedIn200,
    count: count,
    selfTime: amount,
    totalTime: amount
  },
  {
    type: or('', printedIn200),
    device: or('', text),
    profiler: said,
    plane: oneOf('host', 'device'),
    share: amount,
    shapes: printedIn200,
    bytes: count,
    flops: amount
  }
);

/** Everything known about one cell. */
export interface IRecord {
  run: IRun;
  cell: ICell;
  startedAt: string;
  outcome: 'ok' | 'error' | 'interrupted';
  device: IDeviceUse;
  readings: IReading[];
  ops: IOpStat[];
  versions: [name: string, value: string][];
  mode: 'light' | 'profiled';
  origin: 'live' | 'loaded' | 'replayed';
  notes: Sentence[];
  native: INativeOutput | null;
  gpuWork: IGpuWork[];
  asynchronous: boolean;
  hostLane: IHostLane | null;
  repeat: IRepeat | null;
}

export const readRecord: Reader<IRecord> = shape(
  {
    run: readRun,
    cell: readCell,
    outcome: oneOf('ok', 'error', 'interrupted'),
    device: readDeviceUse
  },
  {
    startedAt: or('', text),
    readings: listOf(readReading),
    ops: listOf(readOpStat, 1000),
    versions: pairsOf(text),
    mode: or('light', oneOf('light', 'profiled')),
    origin: or('live', oneOf('live', 'loaded', 'replayed')),
    notes: listOf(sentence),
    native: readNativeOutput,
    gpuWork: listOf(readGpuWork),
    asynchronous: flag,
    hostLane: readHostLane,
    repeat: readRepeat
  }
);

/** The head as the browser gets it: what there is of it, figures by their names. */
export interface IHead {
  label: Sentence;
  figures: [name: string, value: Sentence][];
  messages: Sentence[];
  folded: boolean;
}

export const readHead: Reader<IHead> = shape(
  {},
  {
    label: said,
    figures: pairsOf(sentence),
    messages: listOf(sentence),
    folded: flag
  }
);
