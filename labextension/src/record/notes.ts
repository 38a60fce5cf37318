/**
 * Log lines in words, as jupyter_mlgpu/show/receipts/notes.py says them: a note is a line whose meaning is known.
 */

import { isMessage } from '../language/i18n';
import type { Translate } from '../language/i18n';
import { VERDICTS } from './logs';
import type { ILogLine, Verdict } from './logs';
import type { IRecord } from './record';

/** How many different lines of each kind there are. */
interface INoteCounts {
  notes: number;
  toActOn: number;
  unknown: number;
}

/**
 * Those of a record, the lines cut from its receipt included; and apart those that came after the cell, for its
 * receipt was drawn before them.
 */
export function countNotes(record: IRecord): { inTime: INoteCounts; late: INoteCounts } {
  const none = { notes: 0, toActOn: 0, unknown: 0 };
  const counts = { inTime: { ...none }, late: { ...none } };
  const add = (to: INoteCounts, verdict: Verdict, count: number): void => {
    to[verdict === 'unknown' ? 'unknown' : 'notes'] += count;
    to.toActOn += isToActOn(verdict) ? count : 0;
  };
  for (const { verdict, late } of record.logs) {
    add(late ? counts.late : counts.inTime, verdict, 1);
  }
  for (const [part, count] of record.cut) {
    const verdict = VERDICTS.find(known => part === `logs.${known}`);
    if (verdict !== undefined) {
      add(counts.inTime, verdict, count);
    }
  }
  return counts;
}

export function isToActOn(verdict: Verdict): boolean {
  return verdict === 'fatal' || verdict === 'action';
}

/** `3 notes: 1 to act on`, `12 lines not known`, `1 after the cell had ended`; empty where there is none. */
export function notesInWords(record: IRecord, t: Translate): string[] {
  const { inTime, late } = countNotes(record);
  const withActs = (counted: string, { toActOn }: INoteCounts): string =>
    toActOn === 0 ? counted : t('toActOn', { messages: counted, count: toActOn });
  const { notes, unknown } = inTime;
  const sentences: string[] = [];
  if (notes > 0) {
    sentences.push(withActs(t('notes', { count: notes }), inTime));
  }
  if (unknown > 0) {
    sentences.push(t('linesNotKnown', { count: unknown }));
  }
  const after = late.notes + late.unknown;
  if (after > 0) {
    sentences.push(withActs(t('linesAfter', { count: after }), late));
  }
  return sentences;
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
