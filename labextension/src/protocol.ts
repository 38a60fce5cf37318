/**
 * The contract with the kernel and with saved notebooks: the shapes, and the only way in.
 *
 * Everything that arrives is hostile until it is read here. Readers copy the known fields, cut texts
 * and lists to a bounded size, and answer `null` for what is no such thing. The Python side of the
 * same contract is jupyter_mlgpu/record.py and jupyter_mlgpu/notebook/channel.py.
 */

export const MIME_TYPE = 'application/vnd.jupyter-mlgpu.record+json';
export const COMM_ID = 'jupyter_mlgpu';
export const SNAPSHOT_REQUEST = 'jupyter_mlgpu_snapshot_request';
export const LOAD_LINE = '%load_ext jupyter_mlgpu';

const SCHEMA = 1;
const PROTOCOL = 1;
const SHORT = 120;
const LONG = 600;
const FEW = 64;
const MANY = 20_000;

export type Outcome = 'ok' | 'error' | 'interrupted';
export type Origin = 'live' | 'loaded' | 'replayed';

export interface IReading {
  quantity: string;
  /** null: not known, and `whyMissing` says why. Never 0 for unknown. */
  value: number | null;
  unit: string;
  scope: string;
  source: string;
  samples: number | null;
  whyMissing: string | null;
}

export interface IDevice {
  framework: string;
  device: string;
  kind: string;
  nativeName: string | null;
}

export interface IRanOn extends IDevice {
  operations: number | null;
  /** Part of the operations counted, 0 to 1; not a share of time. */
  share: number | null;
  whyMissing: string | null;
}

export interface ICell {
  sequence: number;
  id: string | null;
  executionCount: number | null;
  name: string;
}

export interface IRecord {
  runId: string;
  notebook: string | null;
  cell: ICell;
  startedAt: string;
  outcome: Outcome;
  requested: string | null;
  ranOn: IRanOn[] | null;
  whyDeviceMissing: string | null;
  readings: IReading[];
  versions: [name: string, version: string][];
  mode: 'light' | 'profiled';
  origin: Origin;
  notes: string[];
  /** What was left out of a receipt to keep the notebook small, and how many. */
  cut: [part: string, count: number][];
}

export interface IDeviceStatus {
  requested: string | null;
  framework: string | null;
  available: IDevice[] | null;
  whyMissing: string | null;
}

export interface IRunning {
  cell: ICell;
  /** Seconds the cell had run when the kernel sent this. */
  elapsed: number;
}

export type Event =
  | { type: 'hello' | 'cleared' | 'goodbye' }
  | { type: 'running'; running: IRunning }
  | { type: 'record'; record: IRecord }
  | { type: 'device'; device: IDeviceStatus }
  | { type: 'trace'; on: boolean };

export interface IDelta {
  run: string;
  seq: number;
  prev: number;
  events: Event[];
}

export interface ISnapshot {
  run: string;
  seq: number;
  tracing: boolean;
  device: IDeviceStatus | null;
  running: IRunning | null;
  records: IRecord[];
  /** Records the kernel holds that are older than the ones sent. */
  older: number;
}

/** Why a record cannot be drawn. */
export type Unreadable = 'newer' | 'invalid';

/** Read a record, or say why it cannot be read. */
export function readRecord(data: unknown): IRecord | Unreadable {
  const table = object(data);
  const schema = count(table?.schema);
  if (table === null || schema === null) {
    return 'invalid';
  }
  if (schema > SCHEMA) {
    return 'newer';
  }
  const run = object(table.run);
  const runId = text(run?.id);
  const cell = readCell(table.cell);
  const outcome = choice(table.outcome, ['ok', 'error', 'interrupted'] as const);
  const device = object(table.device);
  if (!runId || cell === null || outcome === null || device === null) {
    return 'invalid';
  }
  return {
    runId,
    notebook: text(run?.notebook),
    cell,
    startedAt: text(table.started_at) ?? '',
    outcome,
    requested: text(device.requested),
    ranOn: listOrNull(device.ran_on, readRanOn),
    whyDeviceMissing: text(device.why_missing, LONG),
    readings: list(table.readings, FEW, readReading),
    versions: pairs(table.versions, value => text(value)),
    mode: choice(table.mode, ['light', 'profiled'] as const) ?? 'light',
    origin: choice(table.origin, ['live', 'loaded', 'replayed'] as const) ?? 'live',
    notes: list(table.notes, FEW, note => text(note, LONG)),
    cut: pairs(table.cut, count)
  };
}

/** Read a broadcast of the kernel; null for anything else, or a protocol we do not speak. */
export function readDelta(data: unknown): IDelta | null {
  const table = object(data);
  const run = text(table?.run);
  const seq = count(table?.seq);
  const prev = count(table?.prev);
  if (table?.protocol !== PROTOCOL || !run || seq === null || prev === null) {
    return null;
  }
  return { run, seq, prev, events: list(table.events, MANY, readEvent) };
}

/** Read the kernel's answer to a snapshot request; null for anything else. */
export function readSnapshot(data: unknown): ISnapshot | null {
  const table = object(data);
  const run = text(table?.run);
  const seq = count(table?.seq);
  if (table?.status !== 'ok' || table.protocol !== PROTOCOL || !run || seq === null) {
    return null;
  }
  return {
    run,
    seq,
    tracing: table.tracing === true,
    device: readDeviceStatus(table.device),
    running: readRunning(table.running),
    records: list(table.records, MANY, readKnownRecord),
    older: count(table.older) ?? 0
  };
}

function readEvent(data: unknown): Event | null {
  const table = object(data);
  switch (table?.type) {
    case 'hello':
    case 'cleared':
    case 'goodbye':
      return { type: table.type };
    case 'running': {
      const running = readRunning(table);
      return running && { type: 'running', running };
    }
    case 'record': {
      const record = readKnownRecord(table.record);
      return record && { type: 'record', record };
    }
    case 'device': {
      const device = readDeviceStatus(table.device);
      return device && { type: 'device', device };
    }
    case 'trace':
      return { type: 'trace', on: table.on === true };
    default:
      return null;
  }
}

function readKnownRecord(data: unknown): IRecord | null {
  const record = readRecord(data);
  return typeof record === 'string' ? null : record;
}

function readRunning(data: unknown): IRunning | null {
  const table = object(data);
  const cell = readCell(table?.cell);
  return cell && { cell, elapsed: amount(table?.elapsed_s) ?? 0 };
}

function readCell(data: unknown): ICell | null {
  const table = object(data);
  const sequence = count(table?.sequence);
  if (table === null || sequence === null) {
    return null;
  }
  return {
    sequence,
    id: text(table.id),
    executionCount: count(table.execution_count),
    name: text(table.name) ?? ''
  };
}

function readDeviceStatus(data: unknown): IDeviceStatus | null {
  const table = object(data);
  return (
    table && {
      requested: text(table.requested),
      framework: text(table.framework),
      available: listOrNull(table.available, readDevice),
      whyMissing: text(table.why_missing, LONG)
    }
  );
}

function readDevice(data: unknown): IDevice | null {
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
      whyMissing: text(table?.why_missing, LONG)
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
    source: text(table.source) ?? '',
    samples: count(table.samples),
    whyMissing: text(table.why_missing, LONG)
  };
}

function object(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

function text(value: unknown, limit = SHORT): string | null {
  if (typeof value !== 'string') {
    return null;
  }
  return value.length > limit ? `${value.slice(0, limit - 1)}…` : value;
}

/** A finite number of at least 0. */
function amount(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}

function count(value: unknown): number | null {
  return Number.isSafeInteger(value) ? amount(value) : null;
}

function choice<T extends string>(value: unknown, choices: readonly T[]): T | null {
  return choices.find(known => known === value) ?? null;
}

function list<T>(value: unknown, limit: number, read: (item: unknown) => T | null): T[] {
  const items: unknown[] = Array.isArray(value) ? value.slice(0, limit) : [];
  return items.map(read).filter(item => item !== null);
}

/** A list; null, not an empty list, for what is not known. */
function listOrNull<T>(value: unknown, read: (item: unknown) => T | null): T[] | null {
  return Array.isArray(value) ? list(value, FEW, read) : null;
}

function pairs<T>(value: unknown, read: (item: unknown) => T | null): [string, T][] {
  return list(Object.entries(object(value) ?? {}), FEW, entry => {
    const [name, item] = entry as [string, unknown];
    const known = read(item);
    return known === null ? null : [text(name) ?? '', known];
  });
}
