/** One measured quantity, or the reason why it could not be measured. */

import { sentence } from '../language/sentence';
import { FEW, amount, count, list, object, or, shape, text, word } from '../language/untrusted';
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

const readGroup = shape({ whyMissing: sentence }, { scope: or('cell', text), device: text });

/** Readings without a value, which a notebook's file has by reason: the Python side is record/not_measured.py. */
export function readNotMeasured(data: unknown): IReading[] {
  return list(data, FEW, item => {
    const group = readGroup(item);
    return group && list(object(item)?.quantities, FEW, word).map(of => missing(of, group));
  })
    .flat()
    .slice(0, FEW);
}

function missing(quantity: string, group: Read<typeof readGroup>): IReading {
  return {
    quantity,
    value: null,
    unit: '',
    source: '',
    detail: null,
    samples: null,
    uncertainty: null,
    ...group
  };
}
