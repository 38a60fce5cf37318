/** One measured quantity, or the reason why it could not be measured. */

import { sentence } from '../language/sentence';
import { amount, count, or, shape, text, word } from '../language/untrusted';
import type { Read } from '../language/untrusted';

const unknownAsEmpty = or('', text);

const readMeasured = shape(
  { quantity: word },
  {
    /** null: not known, and `whyMissing` says why. Never 0 for unknown. */
    value: amount,
    unit: unknownAsEmpty,
    scope: unknownAsEmpty,
    source: or('', sentence),
    /** What measured it, in words. */
    detail: sentence,
    /** The device that it is of, as the instrument names it; null: of none. */
    device: text,
    samples: count,
    /** Half the width of the interval in which the true value lies; null: not stated. */
    uncertainty: amount,
    whyMissing: sentence
  }
);

export type IReading = Read<typeof readMeasured>;

/** A reading whose `source` is what measured it, in words; schema 1 had them there. */
export function readReading(data: unknown): IReading | null {
  const reading = readMeasured(data);
  return reading && { ...reading, source: reading.detail ?? reading.source };
}
