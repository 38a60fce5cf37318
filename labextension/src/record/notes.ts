/** Messages: which come first. */

import { VERDICTS, type ILogLine, type Verdict } from './logs';

export function isToActOn(verdict: Verdict): boolean {
  return verdict === 'fatal' || verdict === 'action';
}

/** The worst verdict first; lines of one verdict in the order in which they came. */
export function worstFirst(lines: readonly ILogLine[]): ILogLine[] {
  return VERDICTS.flatMap(verdict => lines.filter(line => line.verdict === verdict));
}
