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

/** A word for %mlc_device, and the hardware's name or what choosing it does. */
export const readChoice = shape({ word: word }, { about: sentence });

export type IChoice = Read<typeof readChoice>;

/** The choices of a device control of one framework or of all; missing says why there is no GPU. */
export const readPicker = shape(
  { chosen: word },
  { framework: text, words: listOf(readChoice), missing: listOf(sentence) }
);

export type IPicker = Read<typeof readPicker>;

/** An imported framework, with the versions of its packages. */
export const readFramework = shape({ name: word }, { versions: pairsOf(text) });

export type IFramework = Read<typeof readFramework>;

/** The requested devices, as in a record, the devices that can be chosen, and the imported frameworks. */
export const readDeviceStatus = shape(
  {},
  {
    requested: pairsOf(text),
    kind: oneOf('cpu', 'gpu'),
    pickers: listOf(readPicker),
    frameworks: listOf(readFramework)
  }
);

export type IDeviceStatus = Read<typeof readDeviceStatus>;

/** The device that will be set when the running cell ends; framework is null for all frameworks. */
export const readWaitingDevice = shape({ word: word }, { framework: text });

export type IWaitingDevice = Read<typeof readWaitingDevice>;

/** The kernel's answer to the last choice. */
export const readSaid = shape(
  { sentence: notEmpty(sentence) },
  { refused: flag, restart: readRestartHint }
);

export type ISaid = Read<typeof readSaid>;

/** The choices that wait for the running cell to end (null if there is none), and the last answer. */
export const readSidebarState = shape(
  {},
  { device: readWaitingDevice, trace: oneOf(true, false), said: readSaid }
);

export type ISidebarState = Read<typeof readSidebarState>;

/** The number of a run of a repeating cell, and the number of runs. */
export const readRun = shape({ number: count, of: count }, {});

export type IRun = Read<typeof readRun>;

/** The running cell, and its elapsed seconds when this was sent. */
export const readRunning = shape(
  { cell: readCell },
  {
    elapsed: named('elapsed_s', or(0, amount)),
    mode: or('light', oneOf('light', 'profiled', 'checked')),
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

/** The newest sample; series is present if it changed, and strip is the running cell's work so far. */
export const readCountersEvent = shape(
  { t: amount, values: placesOf(amount, 256) },
  { time: orText, strip: readStripSoFar, series: listOrNullOf(orEmpty(readCounterSeries), 256) }
);

export type ICountersEvent = Read<typeof readCountersEvent>;

/** The answer to a request for live counters: if they are sampled, for how long, and why not. */
export const readWatch = shape(
  {},
  { watching: flag, seconds: or(0, amount), whyMissing: sentence }
);

export type IWatch = Read<typeof readWatch>;

/** The records as a browser gets them, with the run's id. */
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

/** A time in seconds on the kernel's own clock, and the values in the order of the series. */
export const readSample = rowOf({ t: amount, values: placesOf(amount, 256) }, {});

export type ISample = Read<typeof readSample>;

/** The live counters in a snapshot; t is its time on the samples' clock. */
export const readCountersHistory = shape(
  {
    series: listOrNullOf(orEmpty(readCounterSeries), 256),
    t: amount,
    samples: named('history', newestOf(readSample, 600))
  },
  { interval: or(0.5, amount) }
);

export type ICountersHistory = Read<typeof readCountersHistory>;

/** A finding; remedy has lines for a shell, confidence is null if the check itself failed. */
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

/** The doctor's state: found is null before it has answered, problem says why it gave no answer. */
export const readDoctor = shape({}, { asking: flag, found: readLightDiagnosis, problem: sentence });

export type IDoctor = Read<typeof readDoctor>;

/** The version of Python. */
export const readVersions = shape({}, { python: text });

export type IVersions = Read<typeof readVersions>;

/** The snapshot as a browser gets it, with the run's id and the number of the last delta. */
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

/** A new or changed record, and its place among the kernel's records (null if it has none). */
export const readRecordEvent = shape({ record: readKnownRecord }, { place: count });

export type IRecordEvent = Read<typeof readRecordEvent>;

/** New lines of the running cell with that number, or of no cell if it is null. */
export const readLinesEvent = shape({ lines: readLines }, { sequence: count });

export type ILinesEvent = Read<typeof readLinesEvent>;

/** The devices or the request for them have changed. */
export const readDeviceEvent = shape({ device: readDeviceStatus }, {});

export type IDeviceEvent = Read<typeof readDeviceEvent>;

/** A user has chosen something, or a choice has been applied. */
export const readSidebarEvent = shape({ choices: readSidebarState }, {});

export type ISidebarEvent = Read<typeof readSidebarEvent>;

/** The doctor was started, or has answered. */
export const readDoctorEvent = shape({ doctor: readDoctor }, {});

export type IDoctorEvent = Read<typeof readDoctorEvent>;

/** The running cell's progress. */
export const readProgressEvent = shape({ sequence: count }, { progress: sentence });

export type IProgressEvent = Read<typeof readProgressEvent>;

/** Tracing was turned on or off. */
export const readTraceEvent = shape({}, { on: flag });

export type ITraceEvent = Read<typeof readTraceEvent>;

/** The reason why a kernel died. */
export const readKernelExit = shape(
  { sentence: sentence, next: sentence },
  { confidence: or('open', oneOf('sure', 'likely', 'open')), lines: orReadLines }
);

export type IKernelExit = Read<typeof readKernelExit>;
