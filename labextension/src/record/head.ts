/** What is seen of a closed receipt, in the words that jupyter_mlgpu/show/receipts/head.py makes of a record. */

import { dotted } from './format';
import type { Translate } from '../language/i18n';
import { LONG, printed } from '../language/untrusted';
import type { IRecord } from './record';
import { readHead as readKnown, type IHead } from './wire';

export type { IHead } from './wire';

/** Letters of one that is stored. */
const MOST = 8_000;

/** As the kernel sends it, or as a text of JSON, which is how a receipt has it. */
export function readHead(data: unknown): IHead | null {
  try {
    return readKnown(typeof data === 'string' && data.length < MOST ? JSON.parse(data) : data);
  } catch {
    return null;
  }
}

/** The head of a receipt that was saved without one: the first line of its plain text. */
export function headOfText(plain: unknown): IHead | null {
  const all: unknown = Array.isArray(plain) ? plain[0] : plain;
  const line = typeof all === 'string' ? all.slice(0, LONG).split('\n', 1)[0] : undefined;
  const [time, ...rest] = (printed(line?.replace(/^\[mlgpu\] /, ''), LONG) ?? '').split(' · ');
  const others = Object.fromEntries(rest.map((figure, at) => [`figure ${at}`, figure]));
  return readKnown({ figures: time === '' ? {} : { time, ...others } });
}

/** The figures that matter, the most important first; how the cell ended where there are none. */
export function figuresOf({ head, outcome }: IRecord, t: Translate): string[] {
  return head.figures.length > 0 ? head.figures.map(([, said]) => t.say(said)) : [t(outcome)];
}

/** One of them; empty where the record has none of that name. */
export function figureNamed(name: string, { head }: IRecord, t: Translate): string {
  return t.say(head.figures.find(([one]) => one === name)?.[1] ?? '');
}

/** What else there is to know at a glance, in a list that shows a time already, but for one with the profiler on. */
export function factsOf(record: IRecord, t: Translate): string {
  const { head, mode } = record;
  const others = head.figures.filter(([name]) => name !== 'time' || mode === 'profiled');
  return dotted(t.say(head.label), ...others.map(([, said]) => t.say(said)), messagesOf(record, t));
}

/** How many messages a cell brought; empty where it brought none. */
export function messagesOf({ head }: IRecord, t: Translate): string {
  return dotted(...head.messages.map(t.say));
}
