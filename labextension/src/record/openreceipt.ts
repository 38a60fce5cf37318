/**
 * What an open receipt says: jupyter_mlgpu/show/receipts/view.py.
 *
 * Made by scripts/readers.py of Python's types (`make schemas`).
 */

import { said, sentence } from '../language/sentence';
import { amount, count, listOf, shape } from '../language/untrusted';
import type { Read } from '../language/untrusted';
import { readChart, readTable } from '../page/pagetypes';

const listOfSentence = listOf(sentence);

/** A line of code, in this cell or the one with execution count cell, and its share of samples. */
export const readSampledLine = shape(
  { line: count, share: amount, low: amount, high: amount },
  { cell: count }
);

export type ISampledLine = Read<typeof readSampledLine>;

/** The parts of an open receipt in reading order. Empty parts have nothing to show. */
export const readOpenReceipt = shape(
  {},
  {
    leftOut: listOfSentence,
    answer: said,
    doubt: said,
    advice: said,
    evidence: readTable,
    lines: readTable,
    sampledLines: listOf(readSampledLine),
    whereTitle: said,
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

export type IOpenReceipt = Read<typeof readOpenReceipt>;
