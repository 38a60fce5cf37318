/**
 * A record as it arrives from the kernel or stands in a saved notebook: its shape, and the only way in.
 *
 * The Python side of the same contract is jupyter_mlgpu/record.py.
 */

import { readLogs } from './logs';
import type { ILogLine } from './logs';
import { MANY, readOperation } from './operations';
import type { IOperation } from './operations';
import { readRequested } from './requested';
import type { Requested } from './requested';
import {
  FEW,
  LONG,
  amount,
  choice,
  count,
  list,
  listOrNull,
  object,
  pairs,
  printed,
  sentence,
  text,
  versioned
} from './untrusted';
import type { Unreadable } from './untrusted';

export const MIME_TYPE = 'application/vnd.jupyter-mlgpu.record+json';

const SCHEMA = 2;

export type Outcome = 'ok' | 'error' | 'interrupted';
export type Origin = 'live' | 'loaded' | 'replayed';

export interface IReading {
  quantity: string;
  /** null: not known, and `whyMissing` says why. Never 0 for unknown. */
  value: number | null;
  unit: string;
  scope: string;
  /** What measured it, in words. */
  source: string;
  samples: number | null;
  /** Half the width of the interval in which the true value lies; null: not stated. */
  uncertainty: number | null;
  whyMissing: string | null;
}

export interface IDevice {
  framework: string;
  device: string;
  kind: string;
  nativeName: string | null;
}

const EVIDENCE = ['counted', 'only device', 'allocator', 'results'] as const;

/** With `allocator` and `results`, more may have run elsewhere. */
export type Evidence = (typeof EVIDENCE)[number];

export interface IRanOn extends IDevice {
  operations: number | null;
  /** Part of the operations counted, 0 to 1; not a share of time. */
  share: number | null;
  whyMissing: string | null;
  /** How it is known that the device worked for the cell; null: the record does not say. */
  evidence: Evidence | null;
}

export interface ICell {
  sequence: number;
  id: string | null;
  executionCount: number | null;
  /** Tells code apart: runs of the same code have the same; null for a block of a script. */
  digest: string | null;
  name: string;
}

/** A piece of knowledge about the cell, as text, with where it comes from. */
export interface IFact {
  name: string;
  value: string;
  source: string;
}

export interface IRecord {
  runId: string;
  notebook: string | null;
  cell: ICell;
  startedAt: string;
  outcome: Outcome;
  requested: Requested;
  ranOn: IRanOn[] | null;
  /** The one device on which anything of a framework can have run; whether anything did is not known. */
  only: [framework: string, device: string][];
  whyDeviceMissing: string | null;
  readings: IReading[];
  logs: ILogLine[];
  ops: IOperation[];
  facts: IFact[];
  versions: [name: string, version: string][];
  mode: 'light' | 'profiled';
  origin: Origin;
  notes: string[];
  /** What was left out of a receipt to keep the notebook small, and how many. */
  cut: [part: string, count: number][];
}

export type { Unreadable } from './untrusted';

/** Read a record, or say why it cannot be read. */
export function readRecord(data: unknown): IRecord | Unreadable {
  const table = versioned(data, SCHEMA);
  if (typeof table === 'string') {
    return table;
  }
  const run = object(table.run);
  const runId = text(run?.id);
  const cell = readCell(table.cell);
  const outcome = choice(table.outcome, ['ok', 'error', 'interrupted'] as const);
  const device = object(table.device);
  const [logs, tooMany] = readLogs(table.logs);
  if (!runId || cell === null || outcome === null || device === null) {
    return 'invalid';
  }
  return {
    runId,
    notebook: text(run?.notebook),
    cell,
    startedAt: text(table.started_at) ?? '',
    outcome,
    requested: readRequested(device.requested),
    ranOn: listOrNull(device.ran_on, readRanOn),
    only: pairs(device.only, value => text(value)),
    whyDeviceMissing: sentence(device.why_missing),
    readings: list(table.readings, FEW, readReading),
    logs,
    ops: list(table.ops, MANY, readOperation),
    facts: pairs(table.facts, readFact).map(([name, fact]) => ({ name, ...fact })),
    versions: pairs(table.versions, value => text(value)),
    mode: choice(table.mode, ['light', 'profiled'] as const) ?? 'light',
    origin: choice(table.origin, ['live', 'loaded', 'replayed'] as const) ?? 'live',
    notes: list(table.notes, FEW, sentence),
    cut: [
      ...pairs(table.cut, count),
      ...(tooMany > 0 ? [['logs', tooMany] as [string, number]] : [])
    ]
  };
}

export function readCell(data: unknown): ICell | null {
  const table = object(data);
  const sequence = count(table?.sequence);
  if (table === null || sequence === null) {
    return null;
  }
  return {
    sequence,
    id: text(table.id),
    executionCount: count(table.execution_count),
    digest: text(table.source_digest),
    name: text(table.name) ?? ''
  };
}

export function readDevice(data: unknown): IDevice | null {
  const table = object(data);
  const device = text(table?.device);
  if (table === null || !device) {
    return null;
  }
  return {
    framework: text(table.framework) ?? '',
    device,
    kind: text(table.kind) ?? '',
    nativeName: text(table.native_name)
  };
}

function readRanOn(data: unknown): IRanOn | null {
  const device = readDevice(data);
  const table = object(data);
  return (
    device && {
      ...device,
      operations: count(table?.operations),
      share: amount(table?.share),
      whyMissing: sentence(table?.why_missing),
      evidence: choice(table?.evidence, EVIDENCE)
    }
  );
}

function readReading(data: unknown): IReading | null {
  const table = object(data);
  const quantity = text(table?.quantity);
  if (table === null || !quantity) {
    return null;
  }
  return {
    quantity,
    value: amount(table.value),
    unit: text(table.unit) ?? '',
    scope: text(table.scope) ?? '',
    // Schema 1 had the words in `source`.
    source: text(table.detail) ?? text(table.source) ?? '',
    samples: count(table.samples),
    uncertainty: amount(table.uncertainty),
    whyMissing: sentence(table.why_missing)
  };
}

function readFact(data: unknown): Omit<IFact, 'name'> | null {
  const table = object(data);
  const value = factText(table?.value);
  return value === null
    ? null
    : { value: text(value, LONG) ?? '', source: text(table?.source) ?? '' };
}

/** A fact's value: text, a number, several of them, or a table as `name: value, name: value`. */
function factText(value: unknown): string | null {
  if (Array.isArray(value)) {
    return list(value, FEW, plain).join(', ');
  }
  const table = object(value);
  return table === null
    ? plain(value)
    : pairs(table, plain)
        .map(pair => pair.join(': '))
        .join(', ');
}

function plain(value: unknown): string | null {
  return typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : printed(value, LONG);
}
