/**
 * Parts of a record that the kernel sends: jupyter_mlgpu/record.
 *
 * Made by scripts/readers.py of Python's types (`make schemas`).
 */

import { readFields } from './logfields';
import { sentence } from '../language/sentence';
import type { Sentence } from '../language/sentence';
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
import type { Reader } from '../language/untrusted';

export const TEXT_LIMIT = 8000;

const or0Count = or(0, count);
const orText = or('', text);
const or0Amount = or(0, amount);
const orTextIn240 = or('', textIn(240));

/** Which cell (or traced block) was measured; with the run's id, sequence identifies a record. */
export interface ICell {
  sequence: number;
  id: string | null;
  executionCount: number | null;
  digest: string | null;
  name: string;
}

export const readCell: Reader<ICell> = shape(
  {
    sequence: count
  },
  {
    id: text,
    executionCount: count,
    digest: named('source_digest', text),
    name: orText
  }
);

/** Seconds in which the cell's thread did one thing, by its letter. */
export interface ISpent {
  did: string;
  seconds: number;
}

export const readSpent: Reader<ISpent> = shape(
  {
    did: text
  },
  {
    seconds: or0Amount
  }
);

/** A line of the cell, or of the cell with this execution count where that is another one. */
export interface IStripLine {
  line: number;
  cell: number | null;
}

export const readStripLine: Reader<IStripLine> = shape(
  {
    line: count
  },
  {
    cell: count
  }
);

/** What the cell's thread did: in each bin of so many seconds what it did most, as a letter. */
export interface IHostLane {
  seconds: number;
  did: string;
  spent: ISpent[];
  ran: string;
  lines: IStripLine[];
}

export const readHostLane: Reader<IHostLane> = shape(
  {},
  {
    seconds: or0Amount,
    did: orTextIn240,
    spent: listOf(readSpent),
    ran: orTextIn240,
    lines: listOf(readStripLine)
  }
);

/** What a GPU did of the cell's work: in each bin a digit, from 0 (nothing) to 9 (all of it). */
export interface IGpuLane {
  seconds: number;
  kernels: string;
  copies: string;
  kernelSeconds: number;
  copySeconds: number;
  longest: string;
}

export const readGpuLane: Reader<IGpuLane> = shape(
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

/** A GPU (gpu:0) and its lane. */
export interface IDeviceLane {
  device: string;
  lane: IGpuLane;
}

export const readDeviceLane: Reader<IDeviceLane> = shape(
  {
    device: text,
    lane: readGpuLane
  },
  {}
);

/** The lanes of the cell with this number, which has run for so many seconds and goes on. */
export interface IStripSoFar {
  sequence: number;
  seconds: number;
  host: IHostLane | null;
  gpus: IDeviceLane[];
}

export const readStripSoFar: Reader<IStripSoFar> = shape(
  {
    sequence: count,
    seconds: amount,
    gpus: listOrNullOf(readDeviceLane)
  },
  {
    host: readHostLane
  }
);

/** All copies in one direction (host-to-device, ...): seconds is the sum of their times. */
export interface ICopySum {
  direction: string;
  count: number;
  bytes: number;
  seconds: number;
}

export const readCopySum: Reader<ICopySum> = shape(
  {
    direction: text
  },
  {
    count: or0Count,
    bytes: or0Count,
    seconds: or0Amount
  }
);

/** All launches of one kernel: seconds is the sum of their times. */
export interface IKernelSum {
  name: string;
  count: number;
  seconds: number;
}

export const readKernelSum: Reader<IKernelSum> = shape(
  {
    name: text
  },
  {
    count: or0Count,
    seconds: or0Amount
  }
);

/** What a GPU (gpu:0) did of the work that a cell launched. */
export interface IGpuWork {
  device: string;
  launches: number;
  kernelSeconds: number;
  copies: ICopySum[];
  kernels: IKernelSum[];
  wentOn: number;
  lane: IGpuLane | null;
  earlier: number;
}

export const readGpuWork: Reader<IGpuWork> = shape(
  {
    device: text
  },
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

/** Lines of a stream in a cell's output, counted by their ends. */
export interface IStreamLines {
  lines: number;
  native: [number, number][];
}

export const readStreamLines: Reader<IStreamLines> = shape(
  {
    lines: count
  },
  {
    native: listOf(tupleOf<[number, number]>(2, count, count), 200)
  }
);

/** What of a cell's output is native, by stream, and what the catalogue knows of it. */
export interface INativeOutput {
  streams: [name: string, value: IStreamLines][];
  families: string[];
  namingDevices: string[];
  ours: string[];
}

export const readNativeOutput: Reader<INativeOutput> = shape(
  {},
  {
    streams: pairsOf(readStreamLines),
    families: listOf(text),
    namingDevices: listOf(text),
    ours: listOf(or('', printedIn(8000)), 100)
  }
);

/** Which run of a cell that repeats a record is. */
export interface IRepeat {
  number: number;
  of: number;
  walls: (number | null)[];
}

export const readRepeat: Reader<IRepeat> = shape(
  {
    number: count,
    of: count
  },
  {
    walls: or([], placesOf(amount, 1002))
  }
);

/** One native log message of the cell; id is null where it is not known what it means. */
export interface ILogLine {
  text: string;
  id: string | null;
  verdict: 'harmless' | 'info' | 'performance' | 'action' | 'fatal' | 'unknown';
  meaning: string | null;
  advice: string | null;
  fields: [name: string, value: string][];
  count: number;
  stream: string;
  time: string | null;
  late: boolean;
}

export const readLogLine: Reader<ILogLine> = shape(
  {
    text: printedIn(8000),
    fields: readFields
  },
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

/** One device on which operations of the cell ran. */
export interface IRanOn {
  framework: string;
  device: string;
  kind: string;
  nativeName: string | null;
  operations: number | null;
  share: number | null;
  whyMissing: Sentence | null;
  evidence: 'counted' | 'only device' | 'allocator' | 'results' | 'driver' | null;
}

export const readRanOn: Reader<IRanOn> = shape(
  {
    device: word
  },
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

export type Outcome = 'ok' | 'error' | 'interrupted';

export const readOutcome: Reader<Outcome> = oneOf('ok', 'error', 'interrupted');

export type Mode = 'light' | 'profiled';

export const readMode: Reader<Mode> = oneOf('light', 'profiled');

export type Origin = 'live' | 'loaded' | 'replayed';

export const readOrigin: Reader<Origin> = oneOf('live', 'loaded', 'replayed');
