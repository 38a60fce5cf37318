/** Reads the receipts and the figures in a notebook's outputs. */

import type { INotebookModel } from '@jupyterlab/notebook';

import { outputsOf } from './outputs';
import { MIME_TYPE, readRecord, type IRecord, type Unreadable } from '../record/record';
import { figureOf, type IFigure } from './savedfigures';
import { nextTask, sliceEnd } from '../record/slices';
import { savedEntry, type IEntry } from './state';
import { object, savedText } from '../language/untrusted';

/** Largest number of figures listed; the newest ones. Older ones stay in the notebook. */
const MOST = 50;

export interface ISaved {
  /** Receipts, oldest first. */
  entries: IEntry[];
  /** In the notebook's order. */
  figures: IFigure[];
}

/** Read a notebook's outputs; null if the signal aborted the reading. */
export async function readSaved(
  notebook: INotebookModel,
  signal: AbortSignal
): Promise<ISaved | null> {
  // A stranger's notebook may hold a receipt twice.
  const entries = new Map<string, IEntry>();
  const figures: IFigure[] = [];
  const places = new Map<string, number>();
  let end = sliceEnd();
  // Outputs that change meanwhile are read again later.
  for (const { cell, data } of outputsOf(notebook)) {
    const record = savedRecord(data?.[MIME_TYPE], data?.['text/plain']);
    if (typeof record !== 'string') {
      const entry = savedEntry(record, cell.id);
      entries.set(entry.key, entry);
    }
    const { id, executionCount } = cell;
    // Counted among the figures of its cell, so that a run with one more message makes the same figure.
    const place = places.get(id) ?? 0;
    const figure = data && figureOf(data, { key: `${id}/${place}`, cellId: id, executionCount });
    if (figure) {
      figures.push(figure);
      places.set(id, place + 1);
    }
    if (performance.now() > end) {
      await nextTask();
      if (signal.aborted) {
        return null;
      }
      end = sliceEnd();
    }
  }
  return { entries: [...entries.values()].sort(byStart), figures: figures.slice(-MOST) };
}

/** Compare as text, because all times are UTC in one format. */
function byStart({ record: a }: IEntry, { record: b }: IEntry): number {
  return a.startedAt < b.startedAt ? -1 : a.startedAt > b.startedAt ? 1 : 0;
}

/** Read a receipt once. */
function savedRecord(value: unknown, plain: unknown): IRecord | Unreadable {
  const data = object(value);
  if (data === null) {
    return 'invalid';
  }
  let record = read.get(data);
  if (record === undefined) {
    record = readRecord(data, plain);
    read.set(data, record);
    if (typeof record !== 'string') {
      sources.set(record, { data, plain: savedText(plain) });
    }
  }
  return record;
}

/** A receipt as the notebook holds it: its data and its plain text. */
export interface IReceiptSource {
  data: object;
  plain: string;
}

/** Return the saved output that a record was read from; null for other records. */
export function sourceOf(record: IRecord): IReceiptSource | null {
  return sources.get(record) ?? null;
}

const read = new WeakMap<object, IRecord | Unreadable>();
const sources = new WeakMap<IRecord, IReceiptSource>();
