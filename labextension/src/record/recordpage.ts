/** What the kernel answers about one cell; the only way in. */

import { readMemorySamples, type IMemorySamples } from './memorysamples';
import { readRecordPage as readKnown } from './recordpagetypes';
import type { IOpenReceipt } from './openreceipt';
import type * as wire from './recordpagetypes';
import { object } from '../language/untrusted';

/** Why there are none; `saved`: the record stands in the notebook, and its kernel is not this one. */
export type NoMemorySamples = NonNullable<wire.IRecordPage['whyNoSamples']> | 'saved';

export interface IRecordPage {
  /** Whether the kernel has the cell's events, and writes a trace of them when it is asked; else why not. */
  timeline: wire.IRecordPage['timeline'] | 'saved';
  samples: IMemorySamples | NoMemorySamples;
  /** null: the kernel no longer has the record. */
  receipt: IOpenReceipt | null;
}

export function readRecordPage(data: unknown): IRecordPage {
  const told = readKnown(data);
  return {
    timeline: told?.timeline ?? 'gone',
    samples: readMemorySamples(object(data)?.samples) ?? told?.whyNoSamples ?? 'gone',
    receipt: told?.receipt ?? null
  };
}
