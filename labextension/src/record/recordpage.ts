/** What the kernel answers about one cell; the only way in. */

import { readLooks } from './looks';
import type { ILooks } from './looks';
import { readRecordPage as readKnown } from './recordpagetypes';
import type { IOpenReceipt } from './openreceipt';
import type * as wire from './recordpagetypes';
import { object } from '../language/untrusted';

/** Why there are none; `saved`: the record stands in the notebook, and its kernel is not this one. */
export type NoLooks = NonNullable<wire.IRecordPage['whyNoLooks']> | 'saved';

export interface IRecordPage {
  /** Whether the kernel has the cell's events, and writes a trace of them when it is asked; else why not. */
  timeline: wire.IRecordPage['timeline'] | 'saved';
  looks: ILooks | NoLooks;
  /** null: the kernel no longer has the record. */
  receipt: IOpenReceipt | null;
}

export function readRecordPage(data: unknown): IRecordPage {
  const told = readKnown(data);
  return {
    timeline: told?.timeline ?? 'gone',
    looks: readLooks(object(data)?.looks) ?? told?.whyNoLooks ?? 'gone',
    receipt: told?.receipt ?? null
  };
}
