/**
 * Two records compared, as the kernel tells it: jupyter_mlgpu/show/comparing/page.py, `data`. The only way in.
 */

import { formatValue } from './format';
import type { Translate } from '../language/i18n';
import { sentence } from '../language/sentence';
import { amount, count, listOf, object, oneOf, or, shape, text } from '../language/untrusted';
import type { Read } from '../language/untrusted';
import { quantityName } from './words';

/** The kernel asked to compare two records. */
export const COMPARE = 'compare';

const readJudgement = oneOf('more', 'less', 'the same', 'no difference shown', 'cannot judge');
export type Judgement = Read<typeof readJudgement>;

/** The values of one or more runs: their median, the lowest and the highest. */
const readSpread = shape({ median: amount, low: amount, high: amount, runs: count }, {});
export type ISpread = Read<typeof readSpread>;

const readRatio = shape({ value: amount, low: amount, high: amount }, {});

const readChange = shape(
  { judgement: readJudgement },
  {
    /** null: an operation, which `more` names. */
    quantity: text,
    /** What its name says besides: the source, or that a profiler was on. */
    more: or('', sentence),
    unit: or('', text),
    /** null: not measured. */
    first: readSpread,
    second: readSpread,
    /** How many times as large the second is as the first, with its 95 % interval. */
    ratio: readRatio,
    whyNot: sentence
  }
);
export type IChange = Read<typeof readChange>;

const readPair = shape(
  {},
  {
    changes: listOf(readChange),
    /** Self times, with a profiler on. */
    operations: listOf(readChange),
    /** What else differs, and what was left out. */
    notes: listOf(sentence)
  }
);
export type IPair = Read<typeof readPair>;

/** Read the kernel's answer; null for what is none. */
export function readComparison(answer: unknown): IPair[] | null {
  const comparison = object(object(answer)?.comparison);
  return comparison && listOf(readPair)(comparison.pairs);
}

/** What differs, in words: `Energy, NVML counter`. */
export function changeName({ quantity, more }: IChange, t: Translate): string {
  return quantity === null ? t.say(more) : `${quantityName(quantity, t)}${t.say(more)}`;
}

/** A median, and the spread where there are several runs: [`1.02 s`, `0.9 s to 1.1 s, 5 runs`]. */
export function spreadInWords(
  { median, low, high, runs }: ISpread,
  unit: string,
  t: Translate
): [median: string, spread: string] {
  const [least, most] = [formatValue(low, unit), formatValue(high, unit)];
  const between = least === most ? '' : `${t('span', { low: least, high: most })}, `;
  return [formatValue(median, unit), `${between}${t('runs', { count: runs })}`];
}

/** `× 0.98 (0.95 to 1.02)` */
export function ratioInWords({ value, low, high }: Read<typeof readRatio>, t: Translate): string {
  return `× ${figure(value)} (${t('span', { low: figure(low), high: figure(high) })})`;
}

function figure(value: number): string {
  return String(Number(value.toPrecision(3)));
}
