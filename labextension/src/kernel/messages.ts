/**
 * What a kernel tells, and the server of its machine and of kernels that died.
 *
 * Made by scripts/readers.py of Python's types (`make schemas`).
 */

import { readRestartHint } from './restart';
import { said, sentence, sentenceIn } from '../language/sentence';
import {
  amount,
  count,
  flag,
  is,
  listOf,
  listOrNullOf,
  named,
  newestOf,
  notEmpty,
  oneOf,
  or,
  orEmpty,
  pairsOf,
  placesOf,
  printedIn,
  rowOf,
  shape,
  text,
  word
} from '../language/untrusted';
import type { Read } from '../language/untrusted';
import { readCell } from '../record/cell';
import { readLines } from '../record/logs';
import { readKnownRecord } from '../record/record';
import { readStripSoFar } from '../record/recordtypes';

const or0Count = or(0, count);
const orText = or('', text);
const orReadLines = or([], readLines);

/** A word for %mlc_device, and what is behind it. */
export const readChoice = shape({ word: word }, { about: sentence });

export type IChoice = Read<typeof readChoice>;

/** The choices of one device control, for a framework or for all; missing says why it offers no GPU. */
export const readPicker = shape(
  { chosen: word },
  { framework: text, words: listOf(readChoice), missing: listOf(sentence) }
);

export type IPicker = Read<typeof readPicker>;

/** A framework that is imported, with the versions of what belongs to it. */
export const readFramework = shape({ name: word }, { versions: pairsOf(text) });

export type IFramework = Read<typeof readFramework>;

/** The devices asked for, as in a record, what can be chosen, and what is imported. */
export const readDeviceStatus = shape(
  {},
  { requested: pairsOf(text), pickers: listOf(readPicker), frameworks: listOf(readFramework) }
);

export type IDeviceStatus = Read<typeof readDeviceStatus>;

/** The device that waits for the end of the running cell; framework null: for all of them. */
export const readWaitingDevice = shape({ word: word }, { framework: text });

export type IWaitingDevice = Read<typeof readWaitingDevice>;

/** The kernel's answer to the last choice. */
export const readSaid = shape(
  { sentence: notEmpty(sentence) },
  { refused: flag, restart: readRestartHint }
);

export type ISaid = Read<typeof readSaid>;

/** The choices that wait for the running cell to end (null: no such choice), and the last answer. */
export const readSidebarState = shape(
  {},
  { device: readWaitingDevice, trace: oneOf(true, false), said: readSaid }
);

export type ISidebarState = Read<typeof readSidebarState>;

/** The number of a run of a cell that repeats, and how many runs there are. */
export const readRun = shape({ number: count, of: count }, {});

export type IRun = Read<typeof readRun>;

/** A cell that runs, and for how many seconds it had when this was sent. */
export const readRunning = shape(
  { cell: readCell },
  {
    elapsed: named('elapsed_s', or(0, amount)),
    profiled: named('mode', is('profiled')),
    run: readRun,
    progress: sentence,
    logs: orReadLines
  }
);

export type IRunning = Read<typeof readRunning>;

/** One line of a chart: device and quantity name it, limit is its largest value, null if unknown. */
export const readCounterSeries = shape(
  {},
  {
    device: orText,
    quantity: orText,
    unit: orText,
    source: said,
    limit: amount,
    whyMissing: sentence
  }
);

export type ICounterSeries = Read<typeof readCounterSeries>;

/** The newest sample; series is there when it has changed, strip is what the running cell has done. */
export const readCountersEvent = shape(
  { t: amount, values: placesOf(amount, 256) },
  { time: orText, strip: readStripSoFar, series: listOrNullOf(orEmpty(readCounterSeries), 256) }
);

export type ICountersEvent = Read<typeof readCountersEvent>;

/** The answer to a browser that watches: whether samples come, for how long, and why not. */
export const readWatch = shape(
  {},
  { watching: flag, seconds: or(0, amount), whyMissing: sentence }
);

export type IWatch = Read<typeof readWatch>;

/** The same as a browser gets it: of which run. */
export const readRecords = shape(
  { run: word },
  {
    records: or([], placesOf(readKnownRecord, 20_000)),
    first: or0Count,
    oldest: or0Count,
    dropped: or0Count
  }
);

export type IRecords = Read<typeof readRecords>;

/** A moment in seconds on the kernel's own clock, and the values in the order of the series. */
export const readSample = rowOf({ t: amount, values: placesOf(amount, 256) }, {});

export type ISample = Read<typeof readSample>;

/** The live counters in a snapshot: t is its moment on the samples' clock. */
export const readCountersHistory = shape(
  {
    series: listOrNullOf(orEmpty(readCounterSeries), 256),
    t: amount,
    samples: named('history', newestOf(readSample, 600))
  },
  { interval: or(0.5, amount) }
);

export type ICountersHistory = Read<typeof readCountersHistory>;

/** A finding; remedy has lines for a shell, confidence is null where the check itself failed. */
export const readLightFinding = shape(
  { title: sentence },
  {
    id: or('', printedIn(600)),
    evidence: or('', sentenceIn(2000)),
    remedy: or('', printedIn(2000)),
    confidence: oneOf('sure', 'likely', 'possible')
  }
);

export type ILightFinding = Read<typeof readLightFinding>;

/** A diagnosis for the sidebar: its sentence, findings with causes first, and how many more there are. */
export const readLightDiagnosis = shape(
  { head: sentence },
  { findings: listOf(readLightFinding), more: or0Count }
);

export type ILightDiagnosis = Read<typeof readLightDiagnosis>;

/** Whether the doctor is being asked, what it found, null where it has not, and why it gave no answer. */
export const readDoctor = shape({}, { asking: flag, found: readLightDiagnosis, problem: sentence });

export type IDoctor = Read<typeof readDoctor>;

/** The version of Python. */
export const readVersions = shape({}, { python: text });

export type IVersions = Read<typeof readVersions>;

/** The same as a browser gets it: of which run, and after which delta. */
export const readSnapshot = shape(
  { run: word, seq: count },
  {
    tracing: flag,
    device: readDeviceStatus,
    running: readRunning,
    logs: orReadLines,
    counters: readCountersHistory,
    choices: readSidebarState,
    doctor: readDoctor,
    versions: readVersions
  }
);

export type ISnapshot = Read<typeof readSnapshot>;

/** A record that is new or has changed, and its place among the kernel's records; null: it is not told. */
export const readRecordEvent = shape({ record: readKnownRecord }, { place: count });

export type IRecordEvent = Read<typeof readRecordEvent>;

/** New lines of the running cell of that number; null: lines of no cell. */
export const readLinesEvent = shape({ lines: readLines }, { sequence: count });

export type ILinesEvent = Read<typeof readLinesEvent>;

/** The devices have changed, or what was asked for. */
export const readDeviceEvent = shape({ device: readDeviceStatus }, {});

export type IDeviceEvent = Read<typeof readDeviceEvent>;

/** Somebody has chosen something, or it was done. */
export const readSidebarEvent = shape({ choices: readSidebarState }, {});

export type ISidebarEvent = Read<typeof readSidebarEvent>;

/** The doctor is asked, or has answered. */
export const readDoctorEvent = shape({ doctor: readDoctor }, {});

export type IDoctorEvent = Read<typeof readDoctorEvent>;

/** What the running cell is at. */
export const readProgressEvent = shape({ sequence: count }, { progress: sentence });

export type IProgressEvent = Read<typeof readProgressEvent>;

/** Cells are traced from now on, or not. */
export const readTraceEvent = shape({}, { on: flag });

export type ITraceEvent = Read<typeof readTraceEvent>;

/** The reason why a kernel died. */
export const readKernelExit = shape(
  { sentence: sentence, next: sentence },
  { confidence: or('open', oneOf('sure', 'likely', 'open')), lines: orReadLines }
);

export type IKernelExit = Read<typeof readKernelExit>;
