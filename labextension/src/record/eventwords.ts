/** Events of a timeline in words: what, where, when. */

import { formatSeconds } from './format';
import type { Translate } from '../language/i18n';
import type { ILane, ITimeline, IView } from './timeline';

/** The lane of an event. */
export function laneOf(timeline: ITimeline, id: number): ILane | undefined {
  return timeline.lanes[timeline.lane[id] ?? -1];
}

/** An event's name with what kind of thing it is, where the name does not say it. */
export function eventName(timeline: ITimeline, id: number): string {
  const { name = '', kind = '' } = timeline.names[timeline.name[id] ?? -1] ?? {};
  return kind === '' || kind === 'op' ? name : `${name} (${kind})`;
}

/** Names a lane, for who looks at it and for a table. */
export type NameOf = (lane: ILane | undefined, t: Translate) => string;

/** The stream or the thread of a lane. */
export function placeOf(lane: ILane | undefined, t: Translate): string {
  if (lane === undefined) {
    return '';
  }
  return lane.onDevice ? `${lane.device} ${lane.line}` : t('hostThread', { line: lane.line });
}

/** Nanoseconds as text, also those before the cell began. */
export function formatTime(nanoseconds: number): string {
  const said =
    Math.abs(nanoseconds) < 1e4 && nanoseconds !== 0
      ? `${Math.abs(nanoseconds)} ns`
      : formatSeconds(Math.abs(nanoseconds) / 1e9);
  return nanoseconds < 0 ? `−${said}` : said;
}

/** A moment on the scale, in the unit that suits what is in view, with as many figures as tell ticks apart. */
export function scaleTime(nanoseconds: number, { from, to }: IView): string {
  const [unit, size] = UNITS.find(([, one]) => to - from >= one) ?? (['ns', 1] as const);
  return `${Number((nanoseconds / size).toFixed(3))} ${unit}`;
}

const UNITS: (readonly [string, number])[] = [
  ['s', 1e9],
  ['ms', 1e6],
  ['µs', 1e3]
];
