/**
 * What the kernel tells: events while it works, and its whole state when asked. The only way in.
 *
 * Everything that arrives is hostile until it is read. Readers copy the known fields, cut texts and
 * lists to a bounded size, and answer `null` for what is no such thing. How messages travel is told in
 * jupyter_mlgpu/jupyter/notebook/browser/channel.py.
 */

import { readCountersEvent } from './counters';
import * as wire from './messages';
import { readRecords as readPage, type IRecords as IPage } from './messages';
import { count, listOf, object, oneOf, shape, word } from '../language/untrusted';
import type { Read, Reader } from '../language/untrusted';

export { readSidebarState, readDeviceStatus, readRecords as readPage } from './messages';
export type {
  IChoice,
  ISidebarState,
  IDeviceStatus,
  IRecords as IPage,
  IRunning
} from './messages';

export const COMM_ID = 'jupyter_mlgpu';
export const SNAPSHOT_REQUEST = 'jupyter_mlgpu_snapshot_request';
/** What a browser asks or tells while a cell runs; `type` says what. */
export const REQUEST = 'jupyter_mlgpu_request';
/** The `type` that asks for the records before a place: `{ before: 7 }`. */
export const RECORDS = 'records';

const PROTOCOL = 1;
const MANY = 20_000;

/** What is read of each type of event. */
const EVENTS = {
  hello: shape({}, {}),
  cleared: shape({}, {}),
  goodbye: shape({}, {}),
  running: within('running', wire.readRunning),
  record: wire.readRecordEvent,
  /** Lines of a cell whose number cannot be read are not lines of no cell. */
  logs: (data: unknown) => {
    const lines = wire.readLinesEvent(data);
    return lines?.sequence === object(data)?.sequence ? lines : null;
  },
  device: wire.readDeviceEvent,
  choices: wire.readSidebarEvent,
  doctor: wire.readDoctorEvent,
  progress: wire.readProgressEvent,
  counters: within('counters', readCountersEvent),
  trace: wire.readTraceEvent
};

type Types = typeof EVENTS;

export type Event = { [T in keyof Types]: { type: T } & Read<Types[T]> }[keyof Types];

const typeOf = oneOf(...(Object.keys(EVENTS) as (keyof Types)[]));

function readEvent(data: unknown): Event | null {
  const type = typeOf(object(data)?.type);
  const event = type && EVENTS[type](data);
  return event && ({ type, ...event } as Event);
}

/** What is read of the event itself, under a name. */
function within<K extends string, T>(name: K, read: Reader<T>): Reader<Record<K, T>> {
  return data => {
    const found = read(data);
    return found && ({ [name]: found } as Record<K, T>);
  };
}

/** Null for a protocol that we do not speak. */
function spoken<T>(read: Reader<T>): Reader<T> {
  return data => (object(data)?.protocol === PROTOCOL ? read(data) : null);
}

/** A broadcast of the kernel. */
export const readDelta = spoken(
  shape({ run: word, seq: count, prev: count }, { events: listOf(readEvent, MANY) })
);

export type IDelta = Read<typeof readDelta>;

const readState = spoken(wire.readSnapshot);

export interface ISnapshot extends Omit<wire.ISnapshot, 'versions'> {
  /** The version of Python. */
  python: string | null;
  /** The newest. */
  page: IPage;
}

/** Read the kernel's answer to a snapshot request; null for anything else. */
export function readSnapshot(data: unknown): ISnapshot | null {
  const state = object(data)?.status === 'ok' ? readState(data) : null;
  const page = readPage(data);
  return state && page && { ...state, python: state.versions?.python ?? null, page };
}
