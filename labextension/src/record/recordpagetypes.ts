/**
 * What the kernel answers about one cell: jupyter_mlgpu/jupyter/notebook/browser/record_pages.py.
 *
 * Made by scripts/readers.py of Python's types (`make schemas`).
 */

import { readOpenReceipt } from './openreceipt';
import type { IOpenReceipt } from './openreceipt';
import { readCounterSeries } from '../kernel/messages';
import type { ICounterSeries } from '../kernel/messages';
import { amount, listOf, oneOf, or, orEmpty, placesOf, rowOf, shape } from '../language/untrusted';
import type { Reader } from '../language/untrusted';

/** The open receipt of a cell, its looks at memory, which are read apart, and why these are missing. */
export interface IRecordPage {
  timeline: 'kept' | 'light' | 'none' | 'gone';
  whyNoLooks: 'short' | 'unwatched' | 'gone' | null;
  receipt: IOpenReceipt | null;
}

export const readRecordPage: Reader<IRecordPage> = shape(
  {},
  {
    timeline: or('gone', oneOf('kept', 'light', 'none', 'gone')),
    whyNoLooks: oneOf('short', 'unwatched', 'gone'),
    receipt: readOpenReceipt
  }
);

/** A look while a cell ran: seconds from its start, and the values in the order of the series. */
export interface ILook {
  at: number;
  values: (number | null)[];
}

export const readLook: Reader<ILook> = rowOf<ILook>(2, {
  at: amount,
  values: placesOf(amount, 256)
});

/** Looks at memory while a cell ran, so many seconds apart. */
export interface ILooks {
  series: ICounterSeries[];
  interval: number;
  looks: ILook[];
}

export const readLooks: Reader<ILooks> = shape(
  {
    interval: amount
  },
  {
    series: listOf(orEmpty(readCounterSeries)),
    looks: listOf(readLook, 2000)
  }
);
