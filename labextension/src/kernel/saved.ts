/** Reading the receipts and the figures that a notebook's outputs hold. */

import type { INotebookModel } from '@jupyterlab/notebook';

import { outputsOf } from './outputs';
import { MIME_TYPE, readRecord, type IRecord, type Unreadable } from '../record/record';
import { figureOf, type IFigure } from './savedfigures';
import { breath, sliceEnd } from '../record/slices';
import { savedEntry, type IEntry } from './state';
import { object, savedText } from '../language/untrusted';

/** The newest so many figures: older ones stand in the notebook all the same. */
const MOST = 50;

export interface ISaved {
  /** Receipts, oldest first. */
  entries: IEntry[];
  /** In the notebook's order. */
  figures: IFigure[];
}

/** What a notebook's outputs hold; null where reading them was given up. */
export async function readSaved(
  notebook: INotebookModel,
  signal: AbortSignal
): Promise<ISaved | null> {
  // Each once, for a stranger may have put it in twice.
  const entries = new Map<string, IEntry>();
  const figures: IFigure[] = [];
  let end = sliceEnd();
  // What changes meanwhile is read anew.
  for (const { cell, index, data } of outputsOf(notebook)) {
    const record = savedRecord(data?.[MIME_TYPE], data?.['text/plain']);
    if (typeof record !== 'string') {
      const entry = savedEntry(record, cell.id);
      entries.set(entry.key, entry);
    }
    const { id, executionCount } = cell;
    const figure = data && figureOf(data, { key: `${id}/${index}`, cellId: id, executionCount });
    if (figure) {
      figures.push(figure);
    }
    if (performance.now() > end) {
      await breath();
      if (signal.aborted) {
        return null;
      }
      end = sliceEnd();
    }
  }
  return { entries: [...entries.values()].sort(byStart), figures: figures.slice(-MOST) };
}

/** Times of one format, all of UTC: their characters tell which is earlier. */
function byStart({ record: a }: IEntry, { record: b }: IEntry): number {
  return a.startedAt < b.startedAt ? -1 : a.startedAt > b.startedAt ? 1 : 0;
}

/** A receipt, read once. */
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

/** A receipt as it stands in a notebook: its data, and its text for those who cannot draw it. */
export interface IReceiptSource {
  data: object;
  plain: string;
}

/** What a receipt in a notebook's outputs was read from; null for any other record. */
export function sourceOf(record: IRecord): IReceiptSource | null {
  return sources.get(record) ?? null;
}

const read = new WeakMap<object, IRecord | Unreadable>();
const sources = new WeakMap<IRecord, IReceiptSource>();
