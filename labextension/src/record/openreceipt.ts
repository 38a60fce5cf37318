/**
 * What an open receipt says: jupyter_mlgpu/show/receipts/view.py.
 *
 * Made by scripts/readers.py of Python's types (`make schemas`).
 */

import { said, sentence } from '../language/sentence';
import type { Sentence } from '../language/sentence';
import { amount, count, listOf, shape } from '../language/untrusted';
import type { Reader } from '../language/untrusted';
import { readChart, readTable } from '../page/pagetypes';
import type { IChart, ITable } from '../page/pagetypes';

const listOfSentence = listOf(sentence);

/** A time, its figure, and the part of the longest one that it is. */
export interface ITimeBar {
  name: Sentence;
  figure: Sentence;
  part: number;
}

export const readTimeBar: Reader<ITimeBar> = shape(
  {
    part: amount
  },
  {
    name: said,
    figure: said
  }
);

/** A line of code, of the cell itself or of the one with that execution count: its share of samples. */
export interface ISampledLine {
  line: number;
  share: number;
  low: number;
  high: number;
  cell: number | null;
}

export const readSampledLine: Reader<ISampledLine> = shape(
  {
    line: count,
    share: amount,
    low: amount,
    high: amount
  },
  {
    cell: count
  }
);

/** The parts of an open receipt in reading order; empty where there is nothing to say. */
export interface IOpenReceipt {
  leftOut: Sentence[];
  bars: ITimeBar[];
  answer: Sentence;
  advice: Sentence;
  evidence: ITable | null;
  lines: ITable | null;
  sampledLines: ISampledLine[];
  places: Sentence[];
  work: ITable[];
  roof: IChart | null;
  underRoof: ITable | null;
  profiled: Sentence;
  operations: ITable[];
  messagesTitle: Sentence;
  measuredTitle: Sentence;
  measured: ITable | null;
  facts: ITable | null;
  versions: Sentence;
  missingTitle: Sentence;
  missing: Sentence[];
}

export const readOpenReceipt: Reader<IOpenReceipt> = shape(
  {},
  {
    leftOut: listOfSentence,
    bars: listOf(readTimeBar),
    answer: said,
    advice: said,
    evidence: readTable,
    lines: readTable,
    sampledLines: listOf(readSampledLine),
    places: listOfSentence,
    work: listOf(readTable),
    roof: readChart,
    underRoof: readTable,
    profiled: said,
    operations: listOf(readTable),
    messagesTitle: said,
    measuredTitle: said,
    measured: readTable,
    facts: readTable,
    versions: said,
    missingTitle: said,
    missing: listOfSentence
  }
);
