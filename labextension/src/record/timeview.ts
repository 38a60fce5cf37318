/** Which part of a timeline is looked at: zoomed, moved, and the scale that it has. */

import type { ITimeline, IView } from './timeline';

/** Nanoseconds below which nothing is seen. */
const NARROWEST = 100;

/** The cell from start to end, and what the profiler saw just before and after. */
export function whole({ duration, starts, ends }: ITimeline): IView {
  let to = duration;
  for (const end of ends) {
    to = Math.max(to, end);
  }
  const from = Math.min(0, starts[0] ?? 0);
  return { from, to: Math.max(to, from + NARROWEST) };
}

/** The view `factor` times as wide, in which the moment `at` stays where it is; never outside `most`. */
export function zoomed(view: IView, factor: number, at: number, most: IView): IView {
  const span = view.to - view.from;
  const wide = Math.min(Math.max(span * factor, NARROWEST), most.to - most.from);
  const from = at - ((at - view.from) / span) * wide;
  return within({ from, to: from + wide }, most);
}

/** The view moved by a part of its width. */
export function moved(view: IView, part: number, most: IView): IView {
  const by = (view.to - view.from) * part;
  return within({ from: view.from + by, to: view.to + by }, most);
}

/** A view in which an event takes a third of the width, or stands in the middle if it is in sight already. */
export function around({ starts, ends }: ITimeline, id: number, view: IView, most: IView): IView {
  const [start, end] = [starts[id] ?? 0, ends[id] ?? 0];
  if (start >= view.from && end <= view.to) {
    return view;
  }
  const middle = (start + end) / 2;
  const span = Math.max(view.to - view.from, (end - start) * 3);
  return within({ from: middle - span / 2, to: middle + span / 2 }, most);
}

function within(view: IView, most: IView): IView {
  const span = Math.min(view.to - view.from, most.to - most.from);
  const from = Math.min(Math.max(view.from, most.from), most.to - span);
  return { from, to: from + span };
}

/** Round moments for the scale: about `most` of them, 1, 2 or 5 times a power of ten apart. */
export function ticks({ from, to }: IView, most: number): number[] {
  const least = (to - from) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map(times => times * power).find(one => one >= least) ?? 10 * power;
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.floor(to / step) - first + 1 }, (_, n) => (first + n) * step);
}
