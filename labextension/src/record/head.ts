/** The head of a closed receipt, written by jupyter_mlgpu/show/receipts/head.py. */

import { dotted } from './format';
import type { Translate } from '../language/i18n';
import { LONG, printed } from '../language/untrusted';
import type { IRecord } from './record';
import { readHead as readKnown, type IHead } from './wire';

export type { IHead } from './wire';

/** Largest number of characters of a stored head. */
const MOST = 8_000;

/** Read a head from the kernel, or from JSON text in a saved receipt. */
export function readHead(data: unknown): IHead | null {
  try {
    return readKnown(typeof data === 'string' && data.length < MOST ? JSON.parse(data) : data);
  } catch {
    return null;
  }
}

/** Return the head of a receipt saved without one, from the first line of its plain text. */
export function headOfText(plain: unknown): IHead | null {
  const all: unknown = Array.isArray(plain) ? plain[0] : plain;
  const line = typeof all === 'string' ? all.slice(0, LONG).split('\n', 1)[0] : undefined;
  const [time, ...rest] = (printed(line?.replace(/^\[mlgpu\] /, ''), LONG) ?? '').split(' · ');
  const others = Object.fromEntries(rest.map((figure, at) => [`figure ${at}`, figure]));
  return readKnown({ figures: time === '' ? {} : { time, ...others } });
}

/** Return the main figures, the most important first; the outcome if there are none. */
export function figuresOf(record: IRecord, t: Translate): string[] {
  return namedFiguresOf(record, t).map(([, figure]) => figure);
}

/** Return the main figures with their names. */
export function namedFiguresOf(
  { head, outcome }: IRecord,
  t: Translate
): [name: string, figure: string][] {
  return head.figures.length > 0
    ? head.figures.map(([name, figure]) => [name, t.say(figure)])
    : [['time', t(outcome)]];
}

/** Return the figure of a name; empty if there is none. */
export function figureNamed(name: string, { head }: IRecord, t: Translate): string {
  return t.say(head.figures.find(([one]) => one === name)?.[1] ?? '');
}

/**
 * Return the figures of a list's row, without the time unless the run was profiled, because the row has it in a
 * column of its own. `without` names one more figure to leave out.
 */
export function factsOf(record: IRecord, t: Translate, without = ''): string {
  const { head, mode } = record;
  const others = head.figures.filter(
    ([name]) => name !== without && (name !== 'time' || mode === 'profiled')
  );
  return dotted(
    t.say(head.label),
    ...others.map(([, figure]) => t.say(figure)),
    messagesOf(record, t)
  );
}

/** Return the number of a cell's messages in words; empty if there are none. */
export function messagesOf({ head }: IRecord, t: Translate): string {
  return dotted(...head.messages.map(t.say));
}
