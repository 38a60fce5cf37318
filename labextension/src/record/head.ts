/** What is seen of a closed receipt, in the words that jupyter_mlgpu/show/receipts/head.py makes of a record. */

import { dotted } from './format';
import type { Translate } from '../language/i18n';
import { sentence } from '../language/sentence';
import { LONG, flag, listOf, or, printed, shape } from '../language/untrusted';
import type { Read } from '../language/untrusted';
import type { IRecord } from './record';

/** Letters of one that is stored. */
const MOST = 8_000;

const said = or('', sentence);

const readParts = shape(
  {},
  {
    /** How the cell ended, where the record comes from, and with what it was made. */
    label: said,
    time: said,
    gpu: said,
    limit: said,
    where: said,
    memory: said,
    /** How many messages there are, and how many of them are to act on. */
    messages: listOf(sentence),
    /** Whether a receipt is closed to its name: its cell computed nothing. */
    folded: flag
  }
);

export type IHead = Read<typeof readParts>;

/** As the kernel sends it, or as a text of JSON, which is how a receipt has it. */
export function readHead(data: unknown): IHead | null {
  try {
    return readParts(typeof data === 'string' && data.length < MOST ? JSON.parse(data) : data);
  } catch {
    return null;
  }
}

/** The head of a receipt that was saved without one: the first line of its plain text. */
export function headOfText(plain: unknown): IHead | null {
  const all: unknown = Array.isArray(plain) ? plain[0] : plain;
  const line = typeof all === 'string' ? all.slice(0, LONG).split('\n', 1)[0] : undefined;
  const [time, ...rest] = (printed(line?.replace(/^\[mlgpu\] /, ''), LONG) ?? '').split(' · ');
  return readParts({ time, gpu: rest.join(' · ') });
}

/** The figures that matter, the most important first; how the cell ended where there are none. */
export function figuresOf({ head, outcome }: IRecord, t: Translate): string[] {
  const { time, gpu, limit, where, memory } = head;
  const figures = [time, gpu, limit, where, memory].map(t.say).filter(Boolean);
  return figures.length > 0 ? figures : [t(outcome)];
}

/** What else there is to know at a glance, in a list that shows a figure already. */
export function factsOf({ head, mode }: IRecord, t: Translate): string {
  const { label, time, gpu, limit, where, memory, messages } = head;
  const slowed = mode === 'profiled' ? time : '';
  return dotted(...[label, slowed, gpu, limit, where, memory, ...messages].map(t.say));
}

/** How many messages a cell brought; empty where it brought none. */
export function messagesOf({ head }: IRecord, t: Translate): string {
  return dotted(...head.messages.map(t.say));
}
