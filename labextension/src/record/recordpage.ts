/** Reads the kernel's answer about one cell. */

import { readMemorySamples, type IMemorySamples } from './memorysamples';
import { readRecordPage as readKnown } from './recordpagetypes';
import type { IOpenReceipt } from './openreceipt';
import type * as wire from './recordpagetypes';
import { object } from '../language/untrusted';

/** Why there are no samples; `saved`: the record is in the notebook, and its kernel is gone. */
export type NoMemorySamples = NonNullable<wire.IRecordPage['whyNoSamples']> | 'saved';

export interface IRecordPage {
  /** `kept` if the kernel has the cell's events and writes a trace on request; else why not. */
  timeline: wire.IRecordPage['timeline'] | 'saved';
  samples: IMemorySamples | NoMemorySamples;
  /** null if the kernel no longer has the record. */
  receipt: IOpenReceipt | null;
}

export function readRecordPage(data: unknown): IRecordPage {
  const answer = readKnown(data);
  return {
    timeline: answer?.timeline ?? 'gone',
    samples: readMemorySamples(object(data)?.samples) ?? answer?.whyNoSamples ?? 'gone',
    receipt: answer?.receipt ?? null
  };
}
