/**
 * Native log lines, explained: their shape as the kernel sends and notebooks save it, and the way in.
 *
 * The Python side of the same contract is `LogLine` in jupyter_mlgpu/record.py.
 */

import { choice, count, list, object, pairs, printed, text } from './untrusted';

/** From the one to look at first to the one to look at last. */
export const VERDICTS = ['fatal', 'action', 'performance', 'info', 'harmless', 'unknown'] as const;

export type Verdict = (typeof VERDICTS)[number];

export interface ILogLine {
  /** As printed, of several lines where the message has them; cut at `TEXT_LIMIT` characters. */
  text: string;
  /** Characters that were printed; more than `text` has where it was cut. */
  length: number;
  /** Which message it is; null where that is not known. */
  id: string | null;
  verdict: Verdict;
  meaning: string | null;
  advice: string | null;
  /** What stood in the message's places, for its explanation in another language. */
  fields: [name: string, value: string][];
  count: number;
  stream: string;
  time: string | null;
  /** It came after the cell had ended. */
  late: boolean;
}

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

function readLogLine(data: unknown): ILogLine | null {
  const table = object(data);
  const shown = printed(table?.text, TEXT_LIMIT);
  if (table === null || shown === null) {
    return null;
  }
  return {
    text: shown,
    length: (table.text as string).length,
    id: text(table.id),
    verdict: choice(table.verdict, VERDICTS) ?? 'unknown',
    meaning: printed(table.meaning, EXPLANATION),
    advice: printed(table.advice, EXPLANATION),
    fields: readFields(table.fields),
    count: count(table.count) ?? 1,
    stream: text(table.stream) ?? '',
    time: text(table.time),
    late: table.late === true
  };
}

/** Shared by lines without fields, which most are: 100,000 lists of their own are work for the collector. */
const NO_FIELDS: [name: string, value: string][] = [];

function readFields(data: unknown): [name: string, value: string][] {
  const fields = pairs(data, readField);
  return fields.length === 0 ? NO_FIELDS : fields;
}

function readField(value: unknown): string | null {
  return typeof value === 'number' ? String(value) : printed(value, FIELD);
}
