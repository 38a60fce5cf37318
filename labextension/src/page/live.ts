/** A drawing of a page that one can move in: a graph, or lanes with their names. */

import { readGraph } from './graph';
import type { IGraph } from './graph';
import { said } from '../language/sentence';
import type { Sentence } from '../language/sentence';
import { list, object } from '../language/untrusted';
import { readTimeline } from '../record/timeline';
import type { ITimeline } from '../record/timeline';

/** Lanes of a timeline with their names. */
export interface ILanes {
  timeline: ITimeline;
  names: Sentence[];
}

export function readLive(part: unknown): IGraph | ILanes | null {
  const { kind, data } = object(part) ?? {};
  return kind === 'graph' ? readGraph(data) : kind === 'timeline' ? readLanes(data) : null;
}

function readLanes(data: unknown): ILanes | null {
  const table = object(data);
  const timeline = readTimeline(table?.timeline);
  return timeline && { timeline, names: list(table?.names, timeline.lanes.length, said) };
}
