/**
 * What a kernel tells, and the server of its machine and of kernels that died.
 *
 * Made by scripts/readers.py of Python's types (`make schemas`).
 */

import { readRestartHint } from './restart';
import type { IRestartHint } from './restart';
import { said, sentence, sentenceIn } from '../language/sentence';
import type { Sentence } from '../language/sentence';
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
import type { Reader } from '../language/untrusted';
import { readCell } from '../record/cell';
import type { ICell } from '../record/cell';
import { readLines } from '../record/logs';
import type { ILogLine } from '../record/logs';
import { readKnownRecord } from '../record/record';
import type { IRecord } from '../record/record';
import { readStripSoFar } from '../record/recordtypes';
import type { IStripSoFar } from '../record/recordtypes';

const or0Count = or(0, count);
const orText = or('', text);
const orReadLines = or([], readLines);

/** A word for %mlc_device, and the hardware's name or what choosing it does. */
export interface IChoice {
  word: string;
  about: Sentence | null;
}

export const readChoice: Reader<IChoice> = shape(
  {
    word: word
  },
  {
    about: sentence
  }
);

/** The choices of a device control of one framework or of all; missing says why there is no GPU. */
export interface IPicker {
  framework: string | null;
  chosen: string;
  words: IChoice[];
  missing: Sentence[];
}

export const readPicker: Reader<IPicker> = shape(
  {
    chosen: word
  },
  {
    framework: text,
    words: listOf(readChoice),
    missing: listOf(sentence)
  }
);

/** An imported framework, with the versions of its packages. */
export interface IFramework {
  name: string;
  versions: [name: string, value: string][];
}

export const readFramework: Reader<IFramework> = shape(
  {
    name: word
  },
  {
    versions: pairsOf(text)
  }
);

/** The requested devices, as in a record, the devices that can be chosen, and the imported frameworks. */
export interface IDeviceStatus {
  requested: [name: string, value: string][];
  pickers: IPicker[];
  frameworks: IFramework[];
}

export const readDeviceStatus: Reader<IDeviceStatus> = shape(
  {},
  {
    requested: pairsOf(text),
    pickers: listOf(readPicker),
    frameworks: listOf(readFramework)
  }
);

/** The device that will be set when the running cell ends; framework is null for all frameworks. */
export interface IWaitingDevice {
  word: string;
  framework: string | null;
}

export const readWaitingDevice: Reader<IWaitingDevice> = shape(
  {
    word: word
  },
  {
    framework: text
  }
);

/** The kernel's answer to the last choice. */
export interface ISaid {
  sentence: Sentence;
  refused: boolean;
  restart: IRestartHint | null;
}

export const readSaid: Reader<ISaid> = shape(
  {
    sentence: notEmpty(sentence)
  },
  {
    refused: flag,
    restart: readRestartHint
  }
);

/** The choices that wait for the running cell to end (null if there is none), and the last answer. */
export interface ISidebarState {
  device: IWaitingDevice | null;
  trace: boolean | null;
  said: ISaid | null;
}

export const readSidebarState: Reader<ISidebarState> = shape(
  {},
  {
    device: readWaitingDevice,
    trace: oneOf(true, false),
    said: readSaid
  }
);

/** The number of a run of a repeating cell, and the number of runs. */
export interface IRun {
  number: number;
  of: number;
}

export const readRun: Reader<IRun> = shape(
  {
    number: count,
    of: count
  },
  {}
);

/** The running cell, and its elapsed seconds when this was sent. */
export interface IRunning {
  cell: ICell;
  elapsed: number;
  profiled: boolean;
  run: IRun | null;
  progress: Sentence | null;
  logs: ILogLine[];
}

export const readRunning: Reader<IRunning> = shape(
  {
    cell: readCell
  },
  {
    elapsed: named('elapsed_s', or(0, amount)),
    profiled: named('mode', is('profiled')),
    run: readRun,
    progress: sentence,
    logs: orReadLines
  }
);

/** One line of a chart: device and quantity name it, limit is the most it can be, null: not known. */
export interface ICounterSeries {
  device: string;
  quantity: string;
  unit: string;
  source: Sentence;
  limit: number | null;
  whyMissing: Sentence | null;
}

export const readCounterSeries: Reader<ICounterSeries> = shape(
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

/** The newest sample; series is present if it changed, and strip is the running cell's work so far. */
export interface ICountersEvent {
  time: string;
  t: number;
  values: (number | null)[];
  strip: IStripSoFar | null;
  series: ICounterSeries[] | null;
}

export const readCountersEvent: Reader<ICountersEvent> = shape(
  {
    t: amount,
    values: placesOf(amount, 256)
  },
  {
    time: orText,
    strip: readStripSoFar,
    series: listOrNullOf(orEmpty(readCounterSeries), 256)
  }
);

/** The answer to a request for live counters: if they are sampled, for how long, and why not. */
export interface IWatch {
  watching: boolean;
  seconds: number;
  whyMissing: Sentence | null;
}

export const readWatch: Reader<IWatch> = shape(
  {},
  {
    watching: flag,
    seconds: or(0, amount),
    whyMissing: sentence
  }
);

/** The records as a browser gets them, with the run's id. */
export interface IRecords {
  records: (IRecord | null)[];
  first: number;
  oldest: number;
  dropped: number;
  run: string;
}

export const readRecords: Reader<IRecords> = shape(
  {
    run: word
  },
  {
    records: or([], placesOf(readKnownRecord, 20_000)),
    first: or0Count,
    oldest: or0Count,
    dropped: or0Count
  }
);

/** A time in seconds on the kernel's own clock, and the values in the order of the series. */
export interface ISample {
  t: number;
  values: (number | null)[];
}

export const readSample: Reader<ISample> = rowOf<ISample>(2, {
  t: amount,
  values: placesOf(amount, 256)
});

/** The live counters in a snapshot; t is its time on the samples' clock. */
export interface ICountersHistory {
  series: ICounterSeries[];
  interval: number;
  t: number;
  samples: ISample[];
}

export const readCountersHistory: Reader<ICountersHistory> = shape(
  {
    series: listOrNullOf(orEmpty(readCounterSeries), 256),
    t: amount,
    samples: named('history', newestOf(readSample, 600))
  },
  {
    interval: or(0.5, amount)
  }
);

/** A finding; remedy has lines for a shell, confidence is null if the check itself failed. */
export interface ILightFinding {
  id: string;
  title: Sentence;
  evidence: Sentence;
  remedy: string;
  confidence: 'sure' | 'likely' | 'possible' | null;
}

export const readLightFinding: Reader<ILightFinding> = shape(
  {
    title: sentence
  },
  {
    id: or('', printedIn(600)),
    evidence: or('', sentenceIn(2000)),
    remedy: or('', printedIn(2000)),
    confidence: oneOf('sure', 'likely', 'possible')
  }
);

/** A diagnosis for the sidebar: its sentence, findings with causes first, and how many more there are. */
export interface ILightDiagnosis {
  head: Sentence;
  findings: ILightFinding[];
  more: number;
}

export const readLightDiagnosis: Reader<ILightDiagnosis> = shape(
  {
    head: sentence
  },
  {
    findings: listOf(readLightFinding),
    more: or0Count
  }
);

/** The doctor's state: found is null before it has answered, problem says why it gave no answer. */
export interface IDoctor {
  asking: boolean;
  found: ILightDiagnosis | null;
  problem: Sentence | null;
}

export const readDoctor: Reader<IDoctor> = shape(
  {},
  {
    asking: flag,
    found: readLightDiagnosis,
    problem: sentence
  }
);

/** The version of Python. */
export interface IVersions {
  python: string | null;
}

export const readVersions: Reader<IVersions> = shape(
  {},
  {
    python: text
  }
);

/** The snapshot as a browser gets it, with the run's id and the number of the last delta. */
export interface ISnapshot {
  tracing: boolean;
  device: IDeviceStatus | null;
  running: IRunning | null;
  logs: ILogLine[];
  counters: ICountersHistory | null;
  choices: ISidebarState | null;
  doctor: IDoctor | null;
  versions: IVersions | null;
  run: string;
  seq: number;
}

export const readSnapshot: Reader<ISnapshot> = shape(
  {
    run: word,
    seq: count
  },
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

/** A new or changed record, and its place among the kernel's records (null if it has none). */
export interface IRecordEvent {
  place: number | null;
  record: IRecord;
}

export const readRecordEvent: Reader<IRecordEvent> = shape(
  {
    record: readKnownRecord
  },
  {
    place: count
  }
);

/** New lines of the running cell with that number, or of no cell if it is null. */
export interface ILinesEvent {
  sequence: number | null;
  lines: ILogLine[];
}

export const readLinesEvent: Reader<ILinesEvent> = shape(
  {
    lines: readLines
  },
  {
    sequence: count
  }
);

/** The devices or the request for them have changed. */
export interface IDeviceEvent {
  device: IDeviceStatus;
}

export const readDeviceEvent: Reader<IDeviceEvent> = shape(
  {
    device: readDeviceStatus
  },
  {}
);

/** A user has chosen something, or a choice has been applied. */
export interface ISidebarEvent {
  choices: ISidebarState;
}

export const readSidebarEvent: Reader<ISidebarEvent> = shape(
  {
    choices: readSidebarState
  },
  {}
);

/** The doctor was started, or has answered. */
export interface IDoctorEvent {
  doctor: IDoctor;
}

export const readDoctorEvent: Reader<IDoctorEvent> = shape(
  {
    doctor: readDoctor
  },
  {}
);

/** The running cell's progress. */
export interface IProgressEvent {
  sequence: number;
  progress: Sentence | null;
}

export const readProgressEvent: Reader<IProgressEvent> = shape(
  {
    sequence: count
  },
  {
    progress: sentence
  }
);

/** Tracing was turned on or off. */
export interface ITraceEvent {
  on: boolean;
}

export const readTraceEvent: Reader<ITraceEvent> = shape(
  {},
  {
    on: flag
  }
);

/** Why a kernel died. next is one thing to do; lines are its last native lines, oldest first. */
export interface IKernelExit {
  confidence: 'sure' | 'likely' | 'open';
  sentence: Sentence;
  next: Sentence;
  lines: ILogLine[];
}

export const readKernelExit: Reader<IKernelExit> = shape(
  {
    sentence: sentence,
    next: sentence
  },
  {
    confidence: or('open', oneOf('sure', 'likely', 'open')),
    lines: orReadLines
  }
);
