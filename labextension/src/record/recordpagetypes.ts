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

/** The open receipt of a cell, its timeline and its looks at memory, which are read apart, or why not. */
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

/** A look while a cell ran: seconds from its start, and the values in the order of the series. */
export interface IMemorySample {
  at: number;
  values: (number | null)[];
}

export const readMemorySample: Reader<IMemorySample> = rowOf<IMemorySample>(2, {
  at: amount,
  values: placesOf(amount, 256)
});

/** Looks at memory while a cell ran, so many seconds apart. */
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
