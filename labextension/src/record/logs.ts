/** Native log lines, explained, as the kernel sends and notebooks save them: how many are read. */

import * as wire from './recordtypes';
import { TEXT_LIMIT } from './recordtypes';
import { list, object } from '../language/untrusted';

export { TEXT_LIMIT } from './recordtypes';

/** From the one to look at first to the one to look at last. */
export const VERDICTS = ['fatal', 'action', 'performance', 'info', 'harmless', 'unknown'] as const;

export type Verdict = (typeof VERDICTS)[number];

const LINES = 2_000;
/** Characters of all lines of a record: the page stands still while they are read. */
const CHARACTERS = 1_000_000;

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

export interface ILogLine extends wire.ILogLine {
  /** Characters that were printed; more than `text` has where it was cut at `TEXT_LIMIT`. */
  length: number;
}

function readLogLine(data: unknown): ILogLine | null {
  const line = wire.readLogLine(data);
  return line && Object.assign(line, { length: (object(data)?.text as string).length });
}

export function isToActOn(verdict: Verdict): boolean {
  return verdict === 'fatal' || verdict === 'action';
}

/** The worst verdict first; lines of one verdict in the order in which they came. */
export function worstFirst(lines: readonly ILogLine[]): ILogLine[] {
  return VERDICTS.flatMap(verdict => lines.filter(line => line.verdict === verdict));
}
