/** Where the lanes of a timeline stand below each other, in pixels, and what is at a place. */

import { eventAt } from './timeline';
import type { ILane, ITimeline, IView } from './timeline';

/** Pixels of the scale at the top, of a lane's name, of a row of events, and between two lanes. */
export const SCALE = 18;
export const TITLE = 16;
export const ROW = 15;
const GAP = 4;

/** Pixels beside a narrow event that still mean it. */
const NEAR = 2;

export interface IPlaced {
  lane: ILane;
  top: number;
}

/**
 * The lanes that have events, with `all` the others too, devices first, one below the other; and how high they
 * are together.
 */
export function placed(lanes: readonly ILane[], all = false): { lanes: IPlaced[]; height: number } {
  const shown = lanes.filter(({ rows }) => all || rows.length > 0);
  const ordered = [
    ...shown.filter(({ onDevice }) => onDevice),
    ...shown.filter(({ onDevice }) => !onDevice)
  ];
  let height = 0;
  const placedLanes = ordered.map(lane => {
    const top = height;
    height += TITLE + lane.rows.length * ROW + GAP;
    return { lane, top };
  });
  return { lanes: placedLanes, height };
}

/** The event at a place below the scale; null: none. */
export function eventAtPlace(
  timeline: ITimeline,
  lanes: readonly IPlaced[],
  view: IView,
  width: number,
  [x, y]: readonly [number, number]
): number | null {
  const found = lanes.find(({ lane, top }) => y >= top && y < top + TITLE + lane.rows.length * ROW);
  const row = found?.lane.rows[Math.floor((y - found.top - TITLE) / ROW)];
  const scale = (view.to - view.from) / width;
  return row === undefined ? null : eventAt(timeline, row, view.from + x * scale, NEAR * scale);
}

/** The pixels from the top at which an event's row begins; null where it is not drawn. */
export function topOf(timeline: ITimeline, lanes: readonly IPlaced[], id: number): number | null {
  const of = timeline.lanes[timeline.lane[id] ?? -1];
  const found = lanes.find(({ lane }) => lane === of);
  const row = found?.lane.rows.findIndex(ids => ids.includes(id)) ?? -1;
  return found === undefined || row < 0 ? null : found.top + TITLE + row * ROW;
}
