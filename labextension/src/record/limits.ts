/**
 * What limits a cell, and the lines of code at which it was seen: read from what nobody vouches for, and in words as
 * jupyter_mlgpu/show/receipts/limits.py says it.
 */

import { formatShare } from './format';
import { readReading } from './reading';
import type { IReading } from './reading';
import type { Translate } from '../language/i18n';
import { sentence } from '../language/sentence';
import { amount, count, listOf, oneOf, or, printedIn, shape } from '../language/untrusted';
import type { Read } from '../language/untrusted';

/** Readings behind a limit, and lines of code, that are read: a receipt holds no more. */
const MOST = 10;

/** The share of the looks that saw what the limit is. */
const SEEN = 'samples_share';

/** Characters of what a line called. */
const CALLS = 80;

export const readLimit = shape(
  { said: sentence },
  {
    confidence: or<'sure' | 'likely' | 'open'>('open', oneOf('sure', 'likely', 'open')),
    /** The weightiest first. */
    evidence: listOf(readReading, MOST),
    /** One thing to do; a command in it stands between backticks. */
    next: sentence,
    /** How fast the cell could be without what limits it. */
    bound: sentence
  }
);

export type ILimit = Read<typeof readLimit>;

const readHotLine = shape(
  /** Of the samples of the stack: how many saw the cell there, and the ends of the 95 % interval of their share. */
  { line: count, samples: count, share: amount, low: amount, high: amount },
  {
    /** Execution count of the cell that it stands in; null: the record's own. */
    cell: count,
    calls: printedIn(CALLS)
  }
);

export type IHotLine = Read<typeof readHotLine>;

export const readHotLines = listOf(readHotLine, MOST);

/** What held the cell up, and what mending it can give; it begins with how sure that is, where it is not sure. */
export function answer({ confidence, said, bound }: ILimit, t: Translate): string {
  const words = t.say(said);
  const sure =
    confidence === 'sure'
      ? words
      : t(confidence === 'likely' ? 'limitLikely' : 'limitOpen', { said: words });
  return bound === null ? sure : `${sure} ${t.say(bound)}`;
}

/**
 * From where to where a share of looks lies, with a chance of about 95 %: E. B. Wilson, "Probable inference, the law of
 * succession, and statistical inference", Journal of the American Statistical Association 22 (1927), p. 209-212.
 */
function shareInterval(share: number, looks: number): [number, number] {
  const z = 1.959964;
  const whole = 1 + (z * z) / looks;
  const middle = (share + (z * z) / (2 * looks)) / whole;
  const half =
    (z * Math.sqrt((share * (1 - share)) / looks + (z * z) / (4 * looks * looks))) / whole;
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

/** The figure of a share of looks with how exactly they know it; empty for any other reading. */
export function withInterval({ quantity, value, samples }: IReading, t: Translate): string {
  if (quantity !== SEEN || value === null || value > 1 || !samples) {
    return '';
  }
  const [low, high] = shareInterval(value, samples).map(formatShare);
  return t('shareInterval', { share: formatShare(value), low: low ?? '', high: high ?? '' });
}

/** Where a line stands: `line 4`, or `[3] line 4` in another cell. */
export function lineName({ cell, line }: IHotLine, t: Translate): string {
  // As texts: numbers get commas, and these are names.
  const said = t('hotLine', { line: String(line) });
  return cell === null ? said : t('hotLineOf', { cell: String(cell), line: said });
}

/** `82 % of the samples: 41, 95 % interval 69 % to 90 %`. */
export function lineShare({ samples, share, low, high }: IHotLine, t: Translate): string {
  return t('hotLineShare', {
    share: formatShare(share),
    count: samples,
    low: formatShare(low),
    high: formatShare(high)
  });
}

/** The commands that a sentence names between backticks. */
export function commandsIn(said: string): string[] {
  return [...said.matchAll(/`((?:%|jupyter )[^`]+)`/g)].map(([, command = '']) => command);
}
