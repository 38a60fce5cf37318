/**
 * Two records compared, as the kernel tells it: jupyter_mlgpu/comparing/page.py, `data`. The only way in.
 */

import { formatValue } from './format';
import type { Translate } from './i18n';
import { FEW, LONG, amount, choice, count, list, object, printed, text } from './untrusted';
import { quantityName } from './words';

/** The kernel asked to compare two records. */
export const COMPARE = 'compare';

const JUDGEMENTS = ['more', 'less', 'the same', 'no difference shown', 'cannot judge'] as const;
export type Judgement = (typeof JUDGEMENTS)[number];

/** The values of one or more runs: their median, the lowest and the highest. */
export interface ISpread {
  median: number;
  low: number;
  high: number;
  runs: number;
}

export interface IRatio {
  value: number;
  low: number;
  high: number;
}

export interface IChange {
  /** null: an operation, which `more` names. */
  quantity: string | null;
  /** What its name says besides: the source, or that a profiler was on. */
  more: string;
  unit: string;
  /** null: not measured. */
  first: ISpread | null;
  second: ISpread | null;
  /** How many times as large the second is as the first, with its 95 % interval. */
  ratio: IRatio | null;
  judgement: Judgement;
  whyNot: string | null;
}

export interface IPair {
  changes: IChange[];
  /** Self times, with a profiler on. */
  operations: IChange[];
  /** What else differs, and what was left out. */
  notes: string[];
}

/** Read the kernel's answer; null for what is none. */
export function readComparison(answer: unknown): IPair[] | null {
  const comparison = object(object(answer)?.comparison);
  return comparison && list(comparison.pairs, FEW, readPair);
}

/** What differs, in words: `Energy, NVML counter`. */
export function changeName({ quantity, more }: IChange, t: Translate): string {
  return quantity === null ? more : `${quantityName(quantity, t)}${t.say(more)}`;
}

/** A median, and the spread where there are several runs: [`1.02 s`, `0.9 s to 1.1 s, 5 runs`]. */
export function spreadInWords(
  { median, low, high, runs }: ISpread,
  unit: string,
  t: Translate
): [median: string, spread: string] {
  const [least, most] = [formatValue(low, unit), formatValue(high, unit)];
  const counted = runs === 1 ? t('oneRun') : t('runs', { count: runs.toLocaleString() });
  const between = least === most ? '' : `${t('span', { low: least, high: most })}, `;
  return [formatValue(median, unit), `${between}${counted}`];
}

/** `× 0.98 (0.95 to 1.02)` */
export function ratioInWords({ value, low, high }: IRatio, t: Translate): string {
  return `× ${figure(value)} (${t('span', { low: figure(low), high: figure(high) })})`;
}

function figure(value: number): string {
  return String(Number(value.toPrecision(3)));
}

function readPair(data: unknown): IPair | null {
  const table = object(data);
  return (
    table && {
      changes: list(table.changes, FEW, readChange),
      operations: list(table.operations, FEW, readChange),
      notes: list(table.notes, FEW, note => printed(note, LONG))
    }
  );
}

function readChange(data: unknown): IChange | null {
  const table = object(data);
  const judgement = choice(table?.judgement, JUDGEMENTS);
  if (table === null || judgement === null) {
    return null;
  }
  return {
    quantity: text(table.quantity),
    more: printed(table.more, LONG) ?? '',
    unit: text(table.unit) ?? '',
    first: readSpread(table.first),
    second: readSpread(table.second),
    ratio: readRatio(table.ratio),
    judgement,
    whyNot: printed(table.why_not, LONG)
  };
}

function readSpread(data: unknown): ISpread | null {
  const table = object(data);
  const median = amount(table?.median);
  const [low, high] = [amount(table?.low), amount(table?.high)];
  const runs = count(table?.runs);
  return median === null || low === null || high === null || runs === null
    ? null
    : { median, low, high, runs };
}

function readRatio(data: unknown): IRatio | null {
  const table = object(data);
  const value = amount(table?.value);
  const [low, high] = [amount(table?.low), amount(table?.high)];
  return value === null || low === null || high === null ? null : { value, low, high };
}
