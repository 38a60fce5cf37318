/**
 * What the kernel answers about one cell; the only way in. The Python side is jupyter_mlgpu/jupyter/notebook/record_pages.py.
 */

import { readLooks } from './looks';
import type { ILooks } from './looks';
import { readTimeline } from './timeline';
import type { ITimeline } from './timeline';
import { choice, object } from '../language/untrusted';

const NO_TIMELINE = ['light', 'none', 'gone'] as const;
const NO_LOOKS = ['short', 'unwatched', 'gone'] as const;

/** Why there is no timeline; `saved`: the record stands in the notebook, and its kernel is not this one. */
export type NoTimeline = (typeof NO_TIMELINE)[number] | 'saved';
export type NoLooks = (typeof NO_LOOKS)[number] | 'saved';

export interface IRecordPage {
  timeline: ITimeline | NoTimeline;
  looks: ILooks | NoLooks;
  /** A page, as page/page.ts reads it, of where the cell stands under its machine's roof; null: none. */
  roof: unknown;
}

export function readRecordPage(data: unknown): IRecordPage {
  const table = object(data);
  return {
    timeline:
      readTimeline(table?.timeline) ?? choice(table?.why_no_timeline, NO_TIMELINE) ?? 'gone',
    looks: readLooks(table?.looks) ?? choice(table?.why_no_looks, NO_LOOKS) ?? 'gone',
    roof: object(table?.roof)
  };
}
