/**
 * What the kernel tells: events while it works, and its whole state when asked. The only way in.
 *
 * Everything that arrives is hostile until it is read. Readers copy the known fields, cut texts and
 * lists to a bounded size, and answer `null` for what is no such thing. The Python side of the same
 * contract is jupyter_mlgpu/notebook/channel.py.
 */

import { readCountersEvent, readCountersHistory } from './counters';
import type { ICountersEvent, ICountersHistory } from './counters';
import { readDoctor } from './doctor';
import type { IDoctor } from './doctor';
import { readLogs } from './logs';
import type { ILogLine } from './logs';
import { readCell, readDevice, readRecord } from './record';
import type { ICell, IDevice, IRecord } from './record';
import { readRequested } from './requested';
import type { Requested } from './requested';
import { readRestartHint } from './restart';
import type { IRestartHint } from './restart';
import { FEW, LONG, amount, count, list, listOrNull, object, pairs, text } from './untrusted';

export const COMM_ID = 'jupyter_mlgpu';
export const SNAPSHOT_REQUEST = 'jupyter_mlgpu_snapshot_request';
/** What a browser asks or tells while a cell runs; `type` says what. */
export const REQUEST = 'jupyter_mlgpu_request';
/** The `type` that asks for the records before a place: `{ before: 7 }`. */
export const RECORDS = 'records';
export const LOAD_LINE = '%load_ext jupyter_mlgpu';

const PROTOCOL = 1;
const MANY = 20_000;

export interface IDeviceStatus {
  requested: Requested;
  available: IDevice[] | null;
  whyMissing: string | null;
  /** The word asked for of each framework that is imported, where one was. */
  asked: [framework: string, word: string][];
  /** The device that each has for its word, where it has one. */
  chosen: [framework: string, device: string][];
  /** The frameworks that are imported. */
  frameworks: { name: string; versions: [name: string, version: string][] }[];
}

/** What somebody has chosen in a sidebar, of this page or another. */
export interface IChoices {
  /** What waits for the end of the running cell; null: nothing. `framework` null: all of them. */
  device: { word: string; framework: string | null } | null;
  trace: boolean | null;
  /** What was said of the last choice. */
  said: { sentence: string; refused: boolean; restart: IRestartHint | null } | null;
}

export interface IRunning {
  cell: ICell;
  /** Seconds the cell had run when the kernel sent this. */
  elapsed: number;
  /** Whether a profiler is on, so that its time is no timing. */
  profiled: boolean;
  /** Which of how many runs of a cell that repeats; null: it runs once. */
  run: { number: number; of: number } | null;
  /** What a command that takes long, a race for example, says that it is at. */
  progress: string | null;
  /** Lines that it has brought so far. */
  logs: ILogLine[];
}

export type Event =
  | { type: 'hello' | 'cleared' | 'goodbye' }
  | { type: 'running'; running: IRunning }
  /** `place`: among the kernel's records; null where it is not told. */
  | { type: 'record'; record: IRecord; place: number | null }
  /** New lines of the running cell of that number; null: lines of no cell. */
  | { type: 'logs'; sequence: number | null; lines: ILogLine[] }
  | { type: 'device'; device: IDeviceStatus }
  | { type: 'choices'; choices: IChoices }
  | { type: 'doctor'; doctor: IDoctor }
  | { type: 'progress'; sequence: number; progress: string | null }
  | { type: 'counters'; counters: ICountersEvent }
  | { type: 'trace'; on: boolean };

export interface IDelta {
  run: string;
  seq: number;
  prev: number;
  events: Event[];
}

export interface ISnapshot {
  run: string;
  seq: number;
  tracing: boolean;
  device: IDeviceStatus | null;
  running: IRunning | null;
  /** The newest. */
  page: IPage;
  /** Lines of no cell: they came before the first. */
  logs: ILogLine[];
  choices: IChoices | null;
  doctor: IDoctor | null;
  counters: ICountersHistory | null;
  /** The version of Python. */
  python: string | null;
}

/** Records that follow each other, each in its place, oldest first; null stands for one that cannot be read. */
export interface IPage {
  run: string;
  records: (IRecord | null)[];
  /** Place of the first of them. */
  first: number;
  /** The first place that can be asked for, and how many records were there before it. */
  oldest: number;
  dropped: number;
}

/** Read a broadcast of the kernel; null for anything else, or a protocol we do not speak. */
export function readDelta(data: unknown): IDelta | null {
  const table = object(data);
  const run = text(table?.run);
  const seq = count(table?.seq);
  const prev = count(table?.prev);
  if (table?.protocol !== PROTOCOL || !run || seq === null || prev === null) {
    return null;
  }
  return { run, seq, prev, events: list(table.events, MANY, readEvent) };
}

/** Read the kernel's answer to a snapshot request; null for anything else. */
export function readSnapshot(data: unknown): ISnapshot | null {
  const table = object(data);
  const run = text(table?.run);
  const seq = count(table?.seq);
  if (table?.status !== 'ok' || table.protocol !== PROTOCOL || !run || seq === null) {
    return null;
  }
  return {
    run,
    seq,
    tracing: table.tracing === true,
    device: readDeviceStatus(table.device),
    running: readRunning(table.running),
    page: readRecords(table, run),
    logs: readLogs(table.logs)[0],
    choices: readChoices(table.choices),
    doctor: readDoctor(table.doctor),
    counters: readCountersHistory(table.counters),
    python: text(object(table.versions)?.python)
  };
}

/** Read an answer to `RECORDS`; null for anything else. */
export function readPage(data: unknown): IPage | null {
  const table = object(data);
  const run = text(table?.run);
  return table === null || !run ? null : readRecords(table, run);
}

function readRecords(table: Record<string, unknown>, run: string): IPage {
  const records: unknown[] = Array.isArray(table.records) ? table.records.slice(0, MANY) : [];
  return {
    run,
    records: records.map(readKnownRecord),
    first: count(table.first) ?? 0,
    oldest: count(table.oldest) ?? 0,
    dropped: count(table.dropped) ?? 0
  };
}

function readEvent(data: unknown): Event | null {
  const table = object(data);
  switch (table?.type) {
    case 'hello':
    case 'cleared':
    case 'goodbye':
      return { type: table.type };
    case 'running': {
      const running = readRunning(table);
      return running && { type: 'running', running };
    }
    case 'record': {
      const record = readKnownRecord(table.record);
      return record && { type: 'record', record, place: count(table.place) };
    }
    case 'logs': {
      const sequence = count(table.sequence);
      const known = sequence !== null || table.sequence === null;
      return known ? { type: 'logs', sequence, lines: readLogs(table.lines)[0] } : null;
    }
    case 'device': {
      const device = readDeviceStatus(table.device);
      return device && { type: 'device', device };
    }
    case 'trace':
      return { type: 'trace', on: table.on === true };
    case 'choices': {
      const choices = readChoices(table.choices);
      return choices && { type: 'choices', choices };
    }
    case 'doctor': {
      const doctor = readDoctor(table.doctor);
      return doctor && { type: 'doctor', doctor };
    }
    case 'progress': {
      const sequence = count(table.sequence);
      const progress = text(table.progress, LONG);
      return sequence === null ? null : { type: 'progress', sequence, progress };
    }
    case 'counters': {
      const counters = readCountersEvent(table);
      return counters && { type: 'counters', counters };
    }
    default:
      return null;
  }
}

function readKnownRecord(data: unknown): IRecord | null {
  const record = readRecord(data);
  return typeof record === 'string' ? null : record;
}

function readRunning(data: unknown): IRunning | null {
  const table = object(data);
  const cell = readCell(table?.cell);
  return (
    cell && {
      cell,
      elapsed: amount(table?.elapsed_s) ?? 0,
      profiled: table?.mode === 'profiled',
      run: readRun(table?.run),
      progress: text(table?.progress, LONG),
      logs: readLogs(table?.logs)[0]
    }
  );
}

function readRun(data: unknown): IRunning['run'] {
  const table = object(data);
  const number = count(table?.number);
  const of = count(table?.of);
  return number === null || of === null ? null : { number, of };
}

export function readDeviceStatus(data: unknown): IDeviceStatus | null {
  const table = object(data);
  return (
    table && {
      requested: readRequested(table.requested),
      available: listOrNull(table.available, readDevice),
      whyMissing: text(table.why_missing, LONG),
      asked: pairs(table.asked, word => text(word)),
      chosen: pairs(table.chosen, device => text(device)),
      frameworks: list(table.frameworks, FEW, item => {
        const name = text(object(item)?.name);
        return name
          ? { name, versions: pairs(object(item)?.versions, version => text(version)) }
          : null;
      })
    }
  );
}

export function readChoices(data: unknown): IChoices | null {
  const table = object(data);
  if (table === null) {
    return null;
  }
  const device = object(table.device);
  const word = text(device?.word);
  const said = object(table.said);
  const sentence = text(said?.sentence, LONG);
  return {
    device: word ? { word, framework: text(device?.framework) } : null,
    trace: typeof table.trace === 'boolean' ? table.trace : null,
    said: sentence
      ? { sentence, refused: said?.refused === true, restart: readRestartHint(said?.restart) }
      : null
  };
}
