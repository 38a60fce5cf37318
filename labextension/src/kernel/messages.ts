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
import { readLines } from '../record/logs';
import type { ILogLine } from '../record/logs';
import { readCell } from '../record/record';
import type { ICell } from '../record/record';
import { readStripSoFar } from '../record/recordtypes';
import type { IStripSoFar } from '../record/recordtypes';

const orText = or('', text);

/** A word for %mlc_device, and what is behind it. */
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

/** What one control offers: the devices of a framework, or, where it is null, those of all of them. */
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

/** A framework that is imported, with the versions of what belongs to it. */
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

/** The devices asked for, as in a record, what can be chosen, and what is imported. */
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

/** The device that waits for the end of the running cell; framework null: for all of them. */
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

/** What was said of the last choice. */
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

/** What somebody has chosen in a sidebar: what waits, null where nothing does, and what was said. */
export interface IChoices {
  device: IWaitingDevice | null;
  trace: boolean | null;
  said: ISaid | null;
}

export const readChoices: Reader<IChoices> = shape(
  {},
  {
    device: readWaitingDevice,
    trace: oneOf(true, false),
    said: readSaid
  }
);

/** Which of how many runs of a cell that repeats. */
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

/** A cell that runs, and for how many seconds it had when this was sent. */
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
    logs: or([], readLines)
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

/** A moment in seconds on the kernel's own clock, and the values in the order of the series. */
export interface ISample {
  t: number;
  values: (number | null)[];
}

export const readSample: Reader<ISample> = rowOf<ISample>(2, {
  t: amount,
  values: placesOf(amount, 256)
});

/** The live counters in a snapshot: t is its moment on the samples' clock. */
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

/** The newest sample; series is there when it has changed, strip is what the running cell has done. */
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

/** The answer to a browser that watches: whether samples come, for how long, and why not. */
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

/** A finding; remedy has lines for a shell, confidence is null where the check itself failed. */
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

/** What the doctor found: a sentence, findings, causes first, and how many more there are. */
export interface IFound {
  head: Sentence;
  findings: ILightFinding[];
  more: number;
}

export const readFound: Reader<IFound> = shape(
  {
    head: sentence
  },
  {
    findings: listOf(readLightFinding),
    more: or(0, count)
  }
);

/** Whether the doctor is being asked, what it found, null where it has not, and why it gave no answer. */
export interface IDoctor {
  asking: boolean;
  found: IFound | null;
  problem: Sentence | null;
}

export const readDoctor: Reader<IDoctor> = shape(
  {},
  {
    asking: flag,
    found: readFound,
    problem: sentence
  }
);

/** Why a kernel died. next is one thing to do; lines are its last native lines, oldest first. */
export interface IDeath {
  confidence: 'sure' | 'likely' | 'open';
  sentence: Sentence;
  next: Sentence;
  lines: ILogLine[];
}

export const readDeath: Reader<IDeath> = shape(
  {
    sentence: sentence,
    next: sentence
  },
  {
    confidence: or('open', oneOf('sure', 'likely', 'open')),
    lines: or([], readLines)
  }
);
