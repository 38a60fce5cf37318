/**
 * Which lines of a cell's output are native, as the kernel counted them.
 *
 * The Python side of the same contract is jupyter_mlgpu/record/native.py.
 */

import { TEXT_LIMIT } from './logs';
import { count, listOf, or, pairsOf, printedIn, shape, word } from '../language/untrusted';
import type { Read } from '../language/untrusted';

/** Runs of native lines in one stream, and lines of a profiler of ours. */
const RUNS = 200;
const OURS = 100;

type Run = readonly [first: number, lines: number];

function readRun(data: unknown): Run | null {
  const [first, lines] = (Array.isArray(data) ? data : []).map(count);
  return typeof first === 'number' && typeof lines === 'number' ? [first, lines] : null;
}

const readStream = shape(
  {
    /** Lines of the stream in the cell's output, by their ends. */
    lines: count
  },
  {
    /** Those that native code wrote from their first character to their end, in runs. */
    native: listOf(readRun, RUNS)
  }
);

export const readNative = shape(
  {},
  {
    streams: pairsOf(readStream),
    /** The parts of the catalogue that the quiet messages belong to. */
    families: listOf(word),
    /** Ids of messages that name a device. */
    namingDevices: listOf(word),
    /** Lines that came only because a profiler of ours was on. */
    ours: listOf(or('', printedIn(TEXT_LIMIT)), OURS)
  }
);

export type INative = Read<typeof readNative>;
