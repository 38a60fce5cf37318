/** Reading the receipts that a notebook's outputs hold. */

import type { ICodeCellModel } from '@jupyterlab/cells';
import type { INotebookModel } from '@jupyterlab/notebook';

import { MIME_TYPE, readRecord } from './record';
import type { IRecord, Unreadable } from './record';
import { breath, sliceEnd } from './slices';
import { savedEntry } from './state';
import type { IEntry } from './state';
import { object } from './untrusted';

/** The receipts in a notebook's outputs, oldest first; null where reading them was given up. */
export async function savedEntries(
  notebook: INotebookModel,
  signal: AbortSignal
): Promise<IEntry[] | null> {
  // Each once, for a stranger may have put it in twice.
  const entries = new Map<string, IEntry>();
  let end = sliceEnd();
  // The cells as they are now: what changes meanwhile is read anew.
  for (const cell of [...notebook.cells]) {
    if (cell.type !== 'code') {
      continue;
    }
    const { outputs } = cell as ICodeCellModel;
    for (let index = 0; index < outputs.length; index++) {
      const record = savedRecord(outputs.get(index).toJSON());
      if (typeof record !== 'string') {
        const entry = savedEntry(record, cell.id);
        entries.set(entry.key, entry);
      }
      if (performance.now() > end) {
        await breath();
        if (signal.aborted) {
          return null;
        }
        end = sliceEnd();
      }
    }
  }
  return [...entries.values()].sort(byStart);
}

/** Times of one format, all of UTC: their characters tell which is earlier. */
function byStart({ record: a }: IEntry, { record: b }: IEntry): number {
  return a.startedAt < b.startedAt ? -1 : a.startedAt > b.startedAt ? 1 : 0;
}

/** The receipt in an output, read once: `toJSON` gives the data itself, where `data` copies it. */
function savedRecord(output: object): IRecord | Unreadable {
  const data = object(object(object(output)?.data)?.[MIME_TYPE]);
  if (data === null) {
    return 'invalid';
  }
  let record = read.get(data);
  if (record === undefined) {
    record = readRecord(data);
    read.set(data, record);
    if (typeof record !== 'string') {
      sources.set(record, data);
    }
  }
  return record;
}

/** What a receipt in a notebook's outputs was read from; null for any other record. */
export function sourceOf(record: IRecord): object | null {
  return sources.get(record) ?? null;
}

const read = new WeakMap<object, IRecord | Unreadable>();
const sources = new WeakMap<IRecord, object>();
