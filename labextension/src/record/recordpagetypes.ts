/**
 * What the kernel answers about one cell: jupyter_mlgpu/jupyter/notebook/browser/record_pages.py.
 *
 * Made by scripts/readers.py of Python's types (`make schemas`).
 */

import { readOpenReceipt } from './openreceipt';
import { readCounterSeries } from '../kernel/messages';
import { amount, listOf, oneOf, or, orEmpty, placesOf, rowOf, shape } from '../language/untrusted';
import type { Read } from '../language/untrusted';

/** A cell's open receipt and memory samples, which are parsed separately, or why there are none. */
export const readRecordPage = shape(
  {},
  {
    timeline: or('gone', oneOf('kept', 'light', 'none', 'gone')),
    whyNoSamples: oneOf('short', 'unwatched', 'gone'),
    receipt: readOpenReceipt
  }
);

export type IRecordPage = Read<typeof readRecordPage>;

/** A sample of a running cell: seconds from its start, and the values in the order of the series. */
export const readMemorySample = rowOf({ at: amount, values: placesOf(amount, 256) }, {});

export type IMemorySample = Read<typeof readMemorySample>;

/** Memory samples of a cell, interval seconds apart. */
export const readMemorySamples = shape(
  { interval: amount },
  { series: listOf(orEmpty(readCounterSeries)), samples: listOf(readMemorySample, 2000) }
);

export type IMemorySamples = Read<typeof readMemorySamples>;
