/** Reads explained native log lines from the kernel and from notebooks, up to a bounded number. */

import * as wire from './recordtypes';
import { TEXT_LIMIT } from './recordtypes';
import { list, object } from '../language/untrusted';

export { TEXT_LIMIT } from './recordtypes';

/** From the most to the least important. */
export const VERDICTS = ['fatal', 'action', 'performance', 'info', 'harmless', 'unknown'] as const;

export type Verdict = (typeof VERDICTS)[number];

const LINES = 2_000;
/** Largest number of characters of a record's lines, because reading them blocks the page. */
const CHARACTERS = 1_000_000;

/** Read log lines, and count those beyond the limit. */
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

/** Read log lines without the count. */
export function readLines(data: unknown): ILogLine[] {
  return readLogs(data)[0];
}

export interface ILogLine extends wire.ILogLine {
  /** Number of characters printed; `text` is cut at `TEXT_LIMIT`. */
  length: number;
}

function readLogLine(data: unknown): ILogLine | null {
  const line = wire.readLogLine(data);
  return line && Object.assign(line, { length: (object(data)?.text as string).length });
}

export function isToActOn(verdict: Verdict): boolean {
  return verdict === 'fatal' || verdict === 'action';
}

/** Return the lines sorted by verdict, the worst first; lines of one verdict keep their order. */
export function worstFirst(lines: readonly ILogLine[]): ILogLine[] {
  return VERDICTS.flatMap(verdict => lines.filter(line => line.verdict === verdict));
}
