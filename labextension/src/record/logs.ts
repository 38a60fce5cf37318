/**
 * Native log lines, explained: their shape as the kernel sends and notebooks save it, and the way in.
 *
 * The Python side of the same contract is `LogLine` in jupyter_mlgpu/record/record.py.
 */

import {
  count,
  flag,
  list,
  named,
  object,
  oneOf,
  or,
  pairs,
  printed,
  printedIn,
  shape,
  text
} from '../language/untrusted';
import type { Read } from '../language/untrusted';

/** From the one to look at first to the one to look at last. */
export const VERDICTS = ['fatal', 'action', 'performance', 'info', 'harmless', 'unknown'] as const;

export type Verdict = (typeof VERDICTS)[number];

/** Characters of a line that are shown. */
export const TEXT_LIMIT = 8_000;

const LINES = 2_000;
/** Characters of all lines of a record: the page stands still while they are read. */
const CHARACTERS = 1_000_000;
const EXPLANATION = 1_200;
const FIELD = 300;

/** Read log lines, and count those that were too many. */
export function readLogs(data: unknown): [lines: ILogLine[], left: number] {
  if (!Array.isArray(data)) {
    return [[], 0];
  }
  let most = 0;
  for (let left = CHARACTERS; most < Math.min(data.length, LINES) && left > 0; most++) {
    const line = object(data[most]);
    left -= [line?.text, line?.meaning, line?.advice].reduce<number>(
      (sum, one) => sum + (typeof one === 'string' ? Math.min(one.length, TEXT_LIMIT) : 0),
      0
    );
  }
  return [list(data, most, readLogLine), data.length - most];
}

/** The lines alone. */
export function readLines(data: unknown): ILogLine[] {
  return readLogs(data)[0];
}

/** Shared by lines without fields, which most are: 100,000 lists of their own are work for the collector. */
const NO_FIELDS: [name: string, value: string][] = [];

function readFields(data: unknown): [name: string, value: string][] {
  const fields = pairs(data, value =>
    typeof value === 'number' ? String(value) : printed(value, FIELD)
  );
  return fields.length === 0 ? NO_FIELDS : fields;
}

const explanation = printedIn(EXPLANATION);

const readLogLine = shape(
  {
    /** As printed, of several lines where the message has them; cut at `TEXT_LIMIT` characters. */
    text: printedIn(TEXT_LIMIT),
    /** Characters that were printed; more than `text` has where it was cut. */
    length: named('text', value => (value as string).length)
  },
  {
    /** Which message it is; null where that is not known. */
    id: text,
    verdict: or('unknown', oneOf(...VERDICTS)),
    meaning: explanation,
    advice: explanation,
    /** What stood in the message's places, for its explanation in another language. */
    fields: readFields,
    count: or(1, count),
    stream: or('', text),
    time: text,
    /** It came after the cell had ended. */
    late: flag
  }
);

export type ILogLine = Read<typeof readLogLine>;
