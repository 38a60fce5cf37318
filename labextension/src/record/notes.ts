/** Messages: which come first, and how many were left out. */

import { isMessage } from '../language/i18n';
import type { Translate } from '../language/i18n';
import { VERDICTS } from './logs';
import type { ILogLine, Verdict } from './logs';

export function isToActOn(verdict: Verdict): boolean {
  return verdict === 'fatal' || verdict === 'action';
}

/** The worst verdict first; lines of one verdict in the order in which they came. */
export function worstFirst(lines: readonly ILogLine[]): ILogLine[] {
  return VERDICTS.flatMap(verdict => lines.filter(line => line.verdict === verdict));
}

/** What was left out of a receipt, in words: `log lines, harmless: 12`. */
export function cutInWords([part, count]: [string, number], t: Translate): string {
  const [name = '', verdict = ''] = part.split('.');
  const message = `part_${name}`;
  const words = isMessage(message)
    ? t(message, { count })
    : `${name.replaceAll('_', ' ')}: ${count.toLocaleString('en')}`;
  return isMessage(verdict) ? `${words} (${t(verdict)})` : words;
}
