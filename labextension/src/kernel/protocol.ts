/**
 * What the kernel tells: events while it works, and its whole state when asked. The only way in.
 *
 * Everything that arrives is hostile until it is read. Readers copy the known fields, cut texts and
 * lists to a bounded size, and answer `null` for what is no such thing. The Python side of the same
 * contract is jupyter_mlgpu/jupyter/notebook/channel.py.
 */

import { readCountersEvent, readCountersHistory } from './counters';
import { readDoctor } from './doctor';
import { readLogs } from '../record/logs';
import type { ILogLine } from '../record/logs';
import { readCell, readRecord } from '../record/record';
import type { IRecord } from '../record/record';
import { readRequested } from '../record/requested';
import { readRestartHint } from './restart';
import { sentence } from '../language/sentence';
import {
  amount,
  count,
  flag,
  listOf,
  named,
  object,
  oneOf,
  or,
  pairsOf,
  shape,
  text,
  word
} from '../language/untrusted';
import type { Read, Reader } from '../language/untrusted';

export const COMM_ID = 'jupyter_mlgpu';
export const SNAPSHOT_REQUEST = 'jupyter_mlgpu_snapshot_request';
/** What a browser asks or tells while a cell runs; `type` says what. */
export const REQUEST = 'jupyter_mlgpu_request';
/** The `type` that asks for the records before a place: `{ before: 7 }`. */
export const RECORDS = 'records';

const PROTOCOL = 1;
const MANY = 20_000;

/** A word for `%mlc_device`, and what is behind it. */
const readChoice = shape({ word }, { about: sentence });

export type IChoice = Read<typeof readChoice>;

export const readDeviceStatus = shape(
  {},
  {
    requested: readRequested,
    /** What can be chosen: jupyter_mlgpu/jupyter/notebook/device_list.py. */
    pickers: listOf(
      shape(
        { chosen: word },
        { framework: text, words: listOf(readChoice), missing: listOf(sentence) }
      )
    ),
    /** The frameworks that are imported. */
    frameworks: listOf(shape({ name: word }, { versions: pairsOf(text) }))
  }
);

export type IDeviceStatus = Read<typeof readDeviceStatus>;

/** What somebody has chosen in a sidebar, of this page or another. */
export const readPicker = shape(
  {},
  {
    /** What waits for the end of the running cell; null: nothing. `framework` null: all of them. */
    device: shape({ word }, { framework: text }),
    trace: (value: unknown): boolean | null => (typeof value === 'boolean' ? value : null),
    /** What was said of the last choice. */
    said: shape(
      { sentence: value => sentence(value) || null },
      { refused: flag, restart: readRestartHint }
    )
  }
);

export type IPicker = Read<typeof readPicker>;

const lines: Reader<ILogLine[]> = value => readLogs(value)[0];

const readRunning = shape(
  { cell: readCell },
  {
    /** Seconds the cell had run when the kernel sent this. */
    elapsed: named('elapsed_s', or(0, amount)),
    /** Whether a profiler is on, so that its time is no timing. */
    profiled: named('mode', value => value === 'profiled'),
    /** Which of how many runs of a cell that repeats; null: it runs once. */
    run: shape({ number: count, of: count }, {}),
    /** What a command that takes long, a race for example, says that it is at. */
    progress: sentence,
    /** Lines that it has brought so far. */
    logs: or([], lines)
  }
);

export type IRunning = Read<typeof readRunning>;

const readKnownRecord: Reader<IRecord> = data => {
  const record = readRecord(data);
  return typeof record === 'string' ? null : record;
};

const readNewLines = shape({ lines }, { sequence: count });

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
  choices: shape({ choices: readPicker }, {}),
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
      logs: or([], lines),
      choices: readPicker,
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
