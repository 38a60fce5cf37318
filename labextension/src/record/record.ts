/** Reads a record from the kernel or from a saved notebook. */

import type { ICell } from './cell';
import { headOfText, readHead, type IHead } from './head';
import { readLogs, type ILogLine } from './logs';
import { readRecord as readKnown } from './wire';
import type * as wire from './wire';
import { count, pairsOf, versioned, type Unreadable } from '../language/untrusted';

export const MIME_TYPE = 'application/vnd.jupyter-mlgpu.record+json';

const SCHEMA = 2;

export type { ICell } from './cell';
export type { Outcome } from './recordtypes';
export type { IReading } from './wire';
export type { Unreadable } from '../language/untrusted';

export interface IRecord extends Omit<wire.IRecord, 'run' | 'device'> {
  runId: string;
  notebook: string | null;
  requested: wire.IDeviceUse['requested'];
  ranOn: wire.IDeviceUse['ranOn'];
  logs: ILogLine[];
  /** Parts left out of a receipt to keep the notebook small, with their numbers. */
  cut: [part: string, count: number][];
  head: IHead;
}

const readCut = pairsOf(count);

/**
 * Read a record, or return why it cannot be read. `plain` is its plain text, for a record saved without a
 * head.
 */
export function readRecord(data: unknown, plain?: unknown): IRecord | Unreadable {
  const table = versioned(data, SCHEMA);
  if (typeof table === 'string') {
    return table;
  }
  const record = readKnown(table);
  const head = readHead(table.head) ?? headOfText(plain);
  if (record === null || head === null) {
    return 'invalid';
  }
  const { run, device, ...others } = record;
  const [logs, tooMany] = readLogs(table.logs);
  const cut = readCut(table.cut);
  const cell: ICell = { ...record.cell, turn: record.repeat?.number ?? null };
  return {
    ...others,
    runId: run.id,
    notebook: run.notebook,
    requested: device.requested,
    ranOn: device.ranOn,
    cell,
    logs,
    cut: tooMany > 0 ? [...cut, ['logs', tooMany]] : cut,
    head
  };
}

/** Read a record; null if it cannot be read. */
export function readKnownRecord(data: unknown): IRecord | null {
  const record = readRecord(data);
  return typeof record === 'string' ? null : record;
}
