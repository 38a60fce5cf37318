/** Reads the variable parts of a log message, for its explanation in another language. */

import { pairs, printed } from '../language/untrusted';

/** Largest number of characters of a field. */
const FIELD = 300;

/** Shared by all lines without fields: 100,000 empty lists would burden the garbage collector. */
const NO_FIELDS: [name: string, value: string][] = [];

export function readFields(data: unknown): [name: string, value: string][] {
  const fields = pairs(data, value =>
    typeof value === 'number' ? String(value) : printed(value, FIELD)
  );
  return fields.length === 0 ? NO_FIELDS : fields;
}
