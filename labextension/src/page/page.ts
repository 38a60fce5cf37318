/** Reads a saved race, plan, benchmark or collection of engines. */

import { SCHEMA, readPage as readKnown, type IPage } from './pagetypes';
import { versioned, type Unreadable } from '../language/untrusted';

export { PAGE_TYPE } from './pagetypes';
export type { IPage } from './pagetypes';

export type IPart = IPage['parts'][number];

/** Read a page, or return why it cannot be read. */
export function readPage(data: unknown): IPage | Unreadable {
  const table = versioned(data, SCHEMA);
  return typeof table === 'string' ? table : (readKnown(table) ?? 'invalid');
}
