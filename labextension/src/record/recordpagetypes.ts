/**
 * What the kernel answers about one cell: jupyter_mlgpu/jupyter/notebook/browser/record_pages.py.
 *
 * Made by scripts/readers.py of Python's types (`make schemas`).
 */

import { readOpenReceipt } from './openreceipt';
import type { IOpenReceipt } from './openreceipt';
import { readTimeline } from './timeline';
import type { ITimeline } from './timeline';
import { readCounterSeries } from '../kernel/messages';
import type { ICounterSeries } from '../kernel/messages';
import { amount, listOf, oneOf, orEmpty, placesOf, rowOf, shape } from '../language/untrusted';
import type { Reader } from '../language/untrusted';

/** A cell's open receipt, timeline and memory samples, or the reasons for those that are missing. */
export interface IRecordPage {
  timeline: ITimeline | null;
  whyNoTimeline: 'light' | 'none' | 'gone' | null;
  whyNoSamples: 'short' | 'unwatched' | 'gone' | null;
  receipt: IOpenReceipt | null;
}

export const readRecordPage: Reader<IRecordPage> = shape(
  {},
  {
    timeline: readTimeline,
    whyNoTimeline: oneOf('light', 'none', 'gone'),
    whyNoSamples: oneOf('short', 'unwatched', 'gone'),
    receipt: readOpenReceipt
  }
);

/** A sample of a running cell: seconds from its start, and the values in the order of the series. */
export interface IMemorySample {
  at: number;
  values: (number | null)[];
}

export const readMemorySample: Reader<IMemorySample> = rowOf<IMemorySample>(2, {
  at: amount,
  values: placesOf(amount, 256)
});

/** Memory samples of a cell, interval seconds apart. */
export interface IMemorySamples {
  series: ICounterSeries[];
  interval: number;
  samples: IMemorySample[];
}

export const readMemorySamples: Reader<IMemorySamples> = shape(
  {
    interval: amount
  },
  {
    series: listOf(orEmpty(readCounterSeries)),
    samples: listOf(readMemorySample, 2000)
  }
);
