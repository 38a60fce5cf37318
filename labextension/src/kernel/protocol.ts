/**
 * What the kernel tells: events while it works, and its whole state when asked. The only way in.
 *
 * Everything that arrives is hostile until it is read. Readers copy the known fields, cut texts and
 * lists to a bounded size, and answer `null` for what is no such thing. How messages travel is told in
 * jupyter_mlgpu/jupyter/notebook/channel.py.
 */

import { readCountersEvent, readCountersHistory } from './counters';
import { readChoices, readDeviceStatus, readDoctor, readRunning } from './messages';
import { readLines } from '../record/logs';
import { readRecord } from '../record/record';
import type { IRecord } from '../record/record';
import { sentence } from '../language/sentence';
import {
  count,
  flag,
  listOf,
  named,
  object,
  oneOf,
  or,
  shape,
  text,
  word
} from '../language/untrusted';
import type { Read, Reader } from '../language/untrusted';

export { readChoices, readDeviceStatus } from './messages';
export type { IChoice, IChoices, IDeviceStatus, IRunning } from './messages';

export const COMM_ID = 'jupyter_mlgpu';
export const SNAPSHOT_REQUEST = 'jupyter_mlgpu_snapshot_request';
/** What a browser asks or tells while a cell runs; `type` says what. */
export const REQUEST = 'jupyter_mlgpu_request';
/** The `type` that asks for the records before a place: `{ before: 7 }`. */
export const RECORDS = 'records';

const PROTOCOL = 1;
const MANY = 20_000;

const readKnownRecord: Reader<IRecord> = data => {
  const record = readRecord(data);
  return typeof record === 'string' ? null : record;
};

const readNewLines = shape({ lines: readLines }, { sequence: count });

/** What is read of each type of event. */
const EVENTS = {
  hello: shape({}, {}),
  cleared: shape({}, {}),
  goodbye: shape({}, {}),
  running: within('running', readRunning),
  /** `place`: among the kernel's records; null where it is not told. */
  record: shape({ record: readKnownRecord }, { place: count }),
  /** New lines of the running cell of that number; null: lines of no cell. */
  logs: (data: unknown) => {
    const told = object(data)?.sequence;
    return told === null || count(told) !== null ? readNewLines(data) : null;
  },
  device: shape({ device: readDeviceStatus }, {}),
  choices: shape({ choices: readChoices }, {}),
  doctor: shape({ doctor: readDoctor }, {}),
  progress: shape({ sequence: count }, { progress: sentence }),
  counters: within('counters', readCountersEvent),
  trace: shape({}, { on: flag })
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

/** An answer to `RECORDS`: records that follow each other, each in its place. */
export const readPage = shape(
  { run: word },
  {
    /** Oldest first; null stands for one that cannot be read. */
    records: (value: unknown): (IRecord | null)[] =>
      Array.isArray(value) ? value.slice(0, MANY).map(one => readKnownRecord(one)) : [],
    /** Place of the first of them. */
    first: or(0, count),
    /** The first place that can be asked for, and how many records were there before it. */
    oldest: or(0, count),
    dropped: or(0, count)
  }
);

export type IPage = Read<typeof readPage>;

const readState = spoken(
  shape(
    { run: word, seq: count },
    {
      tracing: flag,
      device: readDeviceStatus,
      running: readRunning,
      /** Lines of no cell: they came before the first. */
      logs: or([], readLines),
      choices: readChoices,
      doctor: readDoctor,
      counters: readCountersHistory,
      /** The version of Python. */
      python: named('versions', value => text(object(value)?.python))
    }
  )
);

export interface ISnapshot extends Read<typeof readState> {
  /** The newest. */
  page: IPage;
}

/** Read the kernel's answer to a snapshot request; null for anything else. */
export function readSnapshot(data: unknown): ISnapshot | null {
  const state = object(data)?.status === 'ok' ? readState(data) : null;
  const page = readPage(data);
  return state && page && { ...state, page };
}
