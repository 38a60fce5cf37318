/**
 * The events of a profiled cell as the kernel sends them, laid out so that a part of them is found quickly.
 *
 * They are made by jupyter_mlgpu/show/exporting/compact.py. Times are nanoseconds from the
 * start of the cell.
 */

import { sentence } from '../language/sentence';
import type { Sentence } from '../language/sentence';
import { firstWhere } from './sorting';
import { count, list, object, printed, text } from '../language/untrusted';

/** Events, lanes and characters that are read. */
const EVENTS = 50_000;
const LANES = 256;
const NAME = 200;

/** Rows of a lane: what lies deeper inside one another is counted, not drawn. */
const ROWS = 24;

export interface ILane {
  framework: string;
  /** Whether it is a stream of a device; else it is a thread of the host. */
  onDevice: boolean;
  device: string;
  line: string;
  /** Numbers of events by their starts; no two of a row overlap. */
  rows: Int32Array[];
}

export interface IEventName {
  name: string;
  type: string;
  kind: string;
}

export interface ITimeline {
  /** Length of the profiled cell. */
  duration: number;
  /** Of each event, by its number; they are numbered in the order of their starts. */
  starts: Float64Array;
  ends: Float64Array;
  name: Int32Array;
  lane: Int32Array;
  names: IEventName[];
  lanes: ILane[];
  profilers: string[];
  /** Events that the kernel keeps: where they are more than are here, those that begin last are not here. */
  kept: number;
  /** Events that were seen and are not kept, and why. */
  leftOut: number;
  whyLeftOut: Sentence | null;
  /** Events that lie too deep inside others to be drawn. */
  tooDeep: number;
}

/** A part of the time, in nanoseconds. */
export interface IView {
  from: number;
  to: number;
}

/** Read the kernel's answer; null for anything else. */
export function readTimeline(data: unknown): ITimeline | null {
  const table = object(data);
  const duration = count(table?.duration);
  if (table === null || duration === null) {
    return null;
  }
  const lanes = list(table.lanes, LANES, readLane);
  const names = list(table.names, EVENTS, readName);
  const [starts, durations, name, lane] = ['starts', 'durations', 'name', 'lane'].map(key =>
    Array.isArray(table[key]) ? (table[key] as unknown[]) : []
  ) as [unknown[], unknown[], unknown[], unknown[]];
  const most = Math.min(starts.length, EVENTS);
  const read = {
    starts: new Float64Array(most),
    ends: new Float64Array(most),
    name: new Int32Array(most),
    lane: new Int32Array(most)
  };
  let length = 0;
  let start = 0;
  for (let index = 0; index < most; index++) {
    const after = starts[index];
    const took = count(durations[index]);
    const named = count(name[index]);
    const on = count(lane[index]);
    if (!Number.isSafeInteger(after) || (index > 0 && (after as number) < 0)) {
      break; // What follows counts from it.
    }
    start += after as number;
    if (took === null || named === null || on === null || !names[named] || !lanes[on]) {
      continue;
    }
    read.starts[length] = start;
    read.ends[length] = start + took;
    read.name[length] = named;
    read.lane[length] = on;
    length += 1;
  }
  const events = {
    starts: read.starts.subarray(0, length),
    ends: read.ends.subarray(0, length),
    name: read.name.subarray(0, length),
    lane: read.lane.subarray(0, length)
  };
  const [rows, tooDeep] = rowsOf(events, lanes.length);
  return {
    ...events,
    duration,
    names,
    lanes: lanes.map((one, index) => ({ ...one, rows: rows[index] ?? [] })),
    profilers: list(table.profilers, LANES, one => text(one)),
    kept: Math.max(count(table.events) ?? 0, length),
    leftOut: count(table.left_out) ?? 0,
    whyLeftOut: sentence(table.why_left_out),
    tooDeep
  };
}

function readLane(data: unknown): Omit<ILane, 'rows'> {
  const [framework, plane, device, line] = Array.isArray(data) ? (data as unknown[]) : [];
  return {
    framework: printed(framework, NAME) ?? '',
    onDevice: plane === 'device',
    device: printed(device, NAME) ?? '',
    line: printed(line, NAME) ?? ''
  };
}

function readName(data: unknown): IEventName {
  const [name, type, kind] = Array.isArray(data) ? (data as unknown[]) : [];
  return {
    name: printed(name, NAME) ?? '',
    type: printed(type, NAME) ?? '',
    kind: printed(kind, NAME) ?? ''
  };
}

/** Each event in the first row of its lane that is free when it begins; so what lies inside is below. */
function rowsOf(
  events: Pick<ITimeline, 'starts' | 'ends' | 'lane'>,
  lanes: number
): [rows: Int32Array[][], tooDeep: number] {
  const rows: number[][][] = Array.from({ length: lanes }, () => []);
  const busyUntil: number[][] = Array.from({ length: lanes }, () => []);
  let tooDeep = 0;
  for (let id = 0; id < events.starts.length; id++) {
    const lane = events.lane[id] ?? 0;
    const until = busyUntil[lane] ?? [];
    const start = events.starts[id] ?? 0;
    let row = until.findIndex(end => end <= start);
    row = row < 0 ? until.length : row;
    if (row >= ROWS) {
      tooDeep += 1;
      continue;
    }
    until[row] = events.ends[id] ?? 0;
    const ofLane = rows[lane] ?? [];
    (ofLane[row] ??= []).push(id);
  }
  return [rows.map(ofLane => ofLane.map(row => Int32Array.from(row))), tooDeep];
}

/** The moment after which events that the kernel keeps are not here; null: all of them are. */
export function cutAt({ starts, kept }: ITimeline): number | null {
  return kept > starts.length ? (starts.at(-1) ?? 0) : null;
}

// -- what is in sight ---------------------------------------------------------------------------------

/** Calls `draw` for what a row shows in `width` pixels: an event, or several too narrow to be told apart. */
export function bars(
  timeline: ITimeline,
  row: Int32Array,
  view: IView,
  width: number,
  draw: (id: number, x: number, wide: number) => void
): void {
  const scale = width / (view.to - view.from);
  let index = firstEndingAfter(timeline, row, view.from);
  while (index < row.length) {
    const id = row[index] ?? 0;
    const start = timeline.starts[id] ?? 0;
    if (start >= view.to) {
      return;
    }
    const x = (start - view.from) * scale;
    const wide = ((timeline.ends[id] ?? 0) - start) * scale;
    draw(id, x, Math.max(wide, 1));
    // Of all that would fall into the same pixel, one is drawn: work follows the width, not the events.
    index =
      wide >= 1
        ? index + 1
        : firstEndingAfter(timeline, row, view.from + (x + 1) / scale, index + 1);
  }
}

/** The event at a moment of a row, or one that is near; null: none. */
export function eventAt(
  timeline: ITimeline,
  row: Int32Array,
  at: number,
  near: number
): number | null {
  const id = row[firstEndingAfter(timeline, row, at - near)];
  return id !== undefined && (timeline.starts[id] ?? 0) <= at + near ? id : null;
}

/** How many events have a part in view. */
export function countInView(timeline: ITimeline, view: IView): number {
  return partsInView(timeline, view).reduce((sum, one) => sum + one.length, 0);
}

/** The numbers of all events of which a part is in view, in the order of their starts. */
export function inView(timeline: ITimeline, view: IView): Int32Array {
  const found = partsInView(timeline, view);
  const ids = new Int32Array(found.reduce((sum, one) => sum + one.length, 0));
  let length = 0;
  for (const one of found) {
    ids.set(one, length);
    length += one.length;
  }
  return ids.sort();
}

/** Of each row, what is in view. */
function partsInView(timeline: ITimeline, { from, to }: IView): Int32Array[] {
  return timeline.lanes.flatMap(({ rows }) =>
    rows.map(row =>
      row.subarray(firstEndingAfter(timeline, row, from), firstStartingAt(timeline, row, to))
    )
  );
}

function firstEndingAfter(timeline: ITimeline, row: Int32Array, time: number, from = 0): number {
  // An event of no length is in sight where it stands.
  return firstWhere(from, row.length, index => {
    const id = row[index] ?? 0;
    const end = timeline.ends[id] ?? 0;
    return end > time || (end === time && timeline.starts[id] === time);
  });
}

function firstStartingAt(timeline: ITimeline, row: Int32Array, time: number): number {
  return firstWhere(0, row.length, index => (timeline.starts[row[index] ?? 0] ?? 0) >= time);
}
