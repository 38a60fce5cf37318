/**
 * A record as it arrives from the kernel or stands in a saved notebook: its shape, and the only way in.
 *
 * The Python side of the same contract is jupyter_mlgpu/record/record.py.
 */

import { headOfText, readHead } from './head';
import type { IHead } from './head';
import { readHotLines, readLimit } from './limits';
import { readLogs } from './logs';
import type { ILogLine } from './logs';
import { MANY, readOperation } from './operations';
import { readNotMeasured, readReading } from './reading';
import { readRequested } from './requested';
import * as wire from './recordtypes';
import { sentence } from '../language/sentence';
import type { Sentence } from '../language/sentence';
import {
  LONG,
  FEW,
  count,
  flag,
  inside,
  list,
  listOf,
  listOrNullOf,
  named,
  object,
  or,
  pairs,
  pairsOf,
  printed,
  shape,
  text,
  versioned,
  word
} from '../language/untrusted';
import type { Read, Unreadable } from '../language/untrusted';

export const MIME_TYPE = 'application/vnd.jupyter-mlgpu.record+json';

const SCHEMA = 2;

const unknownAsEmpty = or('', text);

export type { IRanOn, Outcome } from './recordtypes';
export type Evidence = NonNullable<wire.IRanOn['evidence']>;

export interface ICell extends wire.ICell {
  /** Which run it is of a cell that repeats; null for all other cells. */
  turn: number | null;
}

export function readCell(data: unknown): ICell | null {
  const cell = wire.readCell(data);
  return cell && { ...cell, turn: null };
}

const readFact = shape({ value: factValue }, { source: or('', sentence) });

const readKnown = shape(
  {
    runId: inside('run', 'id', word),
    cell: readCell,
    outcome: wire.readOutcome
  },
  {
    notebook: inside('run', 'notebook', text),
    startedAt: unknownAsEmpty,
    requested: inside('device', 'requested', readRequested),
    ranOn: inside('device', 'ran_on', listOrNullOf(wire.readRanOn)),
    /** The one device on which anything of a framework can have run; whether anything did is not known. */
    only: inside('device', 'only', pairsOf(text)),
    whyDeviceMissing: inside('device', 'why_missing', sentence),
    readings: listOf(readReading),
    ops: listOf(readOperation, MANY),
    /** Pieces of knowledge about the cell, as text, with where each comes from. */
    facts: (value: unknown) => pairs(value, readFact).map(([name, fact]) => ({ name, ...fact })),
    versions: pairsOf(text),
    mode: or('light', wire.readMode),
    origin: or('live', wire.readOrigin),
    notes: listOf(sentence),
    /** What the cell spent most of its time on; null: not known, and `whyNoLimit` may say why. */
    limit: readLimit,
    whyNoLimit: sentence,
    /** The lines of code at which the cell was seen, the most often first. */
    lines: readHotLines,
    /** Which lines of the cell's output are native; null: that is not known. */
    native: wire.readNativeOutput,
    /** What each GPU did, of those whose work was recorded. */
    gpuWork: named('gpu_work', listOf(wire.readGpuWork)),
    /** Whether nobody waited for the GPUs at the cell's ends: the wall time is that of its code. */
    asynchronous: flag,
    /** What the cell's thread did when; null where it was not sampled. */
    hostLane: named('host_lane', wire.readHostLane),
    /** Which run it is of a cell that repeats, and in the last one how long the others took. */
    repeat: wire.readRepeat,
    /** What was left out of a receipt to keep the notebook small, and how many. */
    cut: pairsOf(count),
    head: readHead
  }
);
export interface IRecord extends Read<typeof readKnown> {
  logs: ILogLine[];
  head: IHead;
}

export type IFact = IRecord['facts'][number];
export type { IReading } from './reading';
export type { Unreadable } from '../language/untrusted';

/** Read a record, or say why it cannot be read; `plain` is the text beside it, for one that was saved without a head. */
export function readRecord(data: unknown, plain?: unknown): IRecord | Unreadable {
  const table = versioned(data, SCHEMA);
  if (typeof table === 'string') {
    return table;
  }
  const record = readKnown(table);
  const head = record?.head ?? headOfText(plain);
  if (record === null || head === null || object(table.device) === null) {
    return 'invalid';
  }
  const [logs, tooMany] = readLogs(table.logs);
  if (tooMany > 0) {
    record.cut.push(['logs', tooMany]);
  }
  const cell = { ...record.cell, turn: record.repeat?.number ?? null };
  const readings = [...record.readings, ...readNotMeasured(table.not_measured)];
  return { ...record, cell, readings, logs, head };
}

/** The same; null for what cannot be read. */
export function readKnownRecord(data: unknown): IRecord | null {
  const record = readRecord(data);
  return typeof record === 'string' ? null : record;
}

/** A fact's value: a sentence, a number, several of them, or a table as `name: value, name: value`. */
function factValue(value: unknown): Sentence | null {
  if (typeof value === 'string' || typeof object(value)?.template === 'string') {
    return sentence(value);
  }
  const said = Array.isArray(value)
    ? list(value, FEW, plain).join(', ')
    : object(value) === null
      ? plain(value)
      : pairs(value, plain)
          .map(pair => pair.join(': '))
          .join(', ');
  return text(said, LONG);
}

function plain(value: unknown): string | null {
  return typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : printed(value, LONG);
}
