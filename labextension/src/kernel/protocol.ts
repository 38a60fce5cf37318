/**
 * Messages of the kernel: events while it works, and its whole state on request.
 *
 * Everything that arrives is untrusted. Readers copy the known fields, cut texts and lists to a bounded size,
 * and return null for anything else. jupyter_mlgpu/jupyter/notebook/browser/channel.py describes how messages
 * travel.
 */

import { readCountersEvent } from './counters';
import * as wire from './messages';
import { readRecords as readPage, type IRecords as IPage } from './messages';
import { count, listOf, object, oneOf, shape, word } from '../language/untrusted';
import type { Read, Reader } from '../language/untrusted';

export const COMM_ID = 'jupyter_mlgpu';
export const SNAPSHOT_REQUEST = 'jupyter_mlgpu_snapshot_request';
/** Message type of requests that the kernel answers while a cell runs; `type` in it says which one. */
export const REQUEST = 'jupyter_mlgpu_request';
/** Request type for the records before a place: `{ before: 7 }`. */
export const RECORDS = 'records';

const PROTOCOL = 1;
const MANY = 20_000;

/** The reader of each type of event. */
const EVENTS = {
  hello: shape({}, {}),
  cleared: shape({}, {}),
  goodbye: shape({}, {}),
  running: within('running', wire.readRunning),
  record: wire.readRecordEvent,
  /** Lines with an unreadable cell number are dropped, not assigned to no cell. */
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

/** Return a reader that puts what `read` returns under a name. */
function within<K extends string, T>(name: K, read: Reader<T>): Reader<Record<K, T>> {
  return data => {
    const found = read(data);
    return found && ({ [name]: found } as Record<K, T>);
  };
}

/** Return a reader that gives null for any other version of the protocol. */
function ofOurProtocol<T>(read: Reader<T>): Reader<T> {
  return data => (object(data)?.protocol === PROTOCOL ? read(data) : null);
}

/** Read a broadcast of the kernel. */
export const readDelta = ofOurProtocol(
  shape({ run: word, seq: count, prev: count }, { events: listOf(readEvent, MANY) })
);

export type IDelta = Read<typeof readDelta>;

const readState = ofOurProtocol(wire.readSnapshot);

export interface ISnapshot extends Omit<wire.ISnapshot, 'versions'> {
  /** Version of Python. */
  python: string | null;
  /** The newest records. */
  page: IPage;
}

/** Read the kernel's answer to a snapshot request; null for anything else. */
export function readSnapshot(data: unknown): ISnapshot | null {
  const state = object(data)?.status === 'ok' ? readState(data) : null;
  const page = readPage(data);
  return state && page && { ...state, python: state.versions?.python ?? null, page };
}
