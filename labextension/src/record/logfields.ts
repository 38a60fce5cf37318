/** What stood in the places of a log message, for its explanation in another language. */

import { pairs, printed } from '../language/untrusted';

/** Characters of one. */
const FIELD = 300;

/** Shared by lines without fields, which most are: 100,000 lists of their own are work for the collector. */
const NO_FIELDS: [name: string, value: string][] = [];

export function readFields(data: unknown): [name: string, value: string][] {
  const fields = pairs(data, value =>
    typeof value === 'number' ? String(value) : printed(value, FIELD)
  );
  return fields.length === 0 ? NO_FIELDS : fields;
}
