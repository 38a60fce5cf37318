/**
 * Parts of a record that the kernel sends: jupyter_mlgpu/record.
 *
 * Made by scripts/readers.py of Python's types (`make schemas`).
 */

import {
  amount,
  count,
  listOf,
  listOrNullOf,
  named,
  or,
  shape,
  text,
  textIn
} from '../language/untrusted';
import type { Reader } from '../language/untrusted';

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
    name: or('', text)
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
