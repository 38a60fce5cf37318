/**
 * What is known of one notebook, as a value that views draw: shapes, and which records they show.
 */

import type { IKernelExit } from './kernelexit';
import type { IDoctor } from './messages';
import type { ILogLine } from '../record/logs';
import type { ILoadProblem } from './loading';
import type { ISidebarState, IDeviceStatus, IRunning } from './protocol';
import type { ICell, IRecord } from '../record/record';
import type { IProgress } from './progress';
import type { IFigure } from './savedfigures';

/** What is known about the kernel: only `live` has records of its own. */
export type KernelState =
  | 'none' // the notebook has no kernel
  | 'asking' // whether the extension is loaded is not known yet
  | 'other' // not a Python kernel: left alone
  | 'absent' // the extension is not loaded
  | 'silent' // the extension is loaded and did not answer
  | 'live'
  | 'dead';

/** A record with what the list needs to show it. */
export interface IEntry {
  key: string;
  record: IRecord;
  /** The cell to go to; null when the record names none. */
  cellId: string | null;
  saved: boolean;
}

/** A cell that runs, with the reading of the browser's own clock to which its elapsed time belongs. */
export interface IRunningCell extends IRunning {
  /** How many lines came before those of `logs` and were let go. */
  earlierLogs: number;
  /** Milliseconds on this browser's monotonic clock when `elapsed` was true. */
  seenAt: number;
}

export interface IState {
  kernel: KernelState;
  /** The kernel was restarted since we first saw it. */
  restarted: boolean;
  /** Why it died, from its death until its successor tells of itself; null where that is not known. */
  death: IKernelExit | null;
  run: string | null;
  tracing: boolean | null;
  /** The wish to start tracing: under way, or why it failed; null: there is none, or it is done. */
  starting: 'loading' | ILoadProblem | null;
  device: IDeviceStatus | null;
  choices: ISidebarState | null;
  doctor: IDoctor | null;
  /** The version of Python. */
  python: string | null;
  /** The kernel runs a cell, be it one that is measured or not. */
  executing: boolean;
  /** Nested cells run inside each other: the last one is the innermost. */
  running: readonly IRunningCell[];
  /** Lines that belong to no cell: they came before the first record. */
  logs: readonly ILogLine[];
  /** Oldest first. */
  entries: readonly IEntry[];
  /** The record of the cell that has just ended; one that was there when we came is no news. */
  ended: IRecord | null;
  /** Records the kernel holds that are older than the ones here. */
  older: number;
  /** The user cleared the records, and none has come since. */
  cleared: boolean;
  /** Receipts found in the notebook's outputs, oldest first. */
  saved: readonly IEntry[];
  /** Plans, races and others in its outputs, in the notebook's order. */
  figures: readonly IFigure[];
  /** How far the lesson is; null: it is no lesson. */
  progress: IProgress | null;
}

/** What a kernel that has said nothing leaves unknown. */
export const NOTHING_KNOWN = {
  run: null,
  tracing: null,
  starting: null,
  device: null,
  choices: null,
  doctor: null,
  python: null,
  running: [],
  logs: [],
  entries: [],
  ended: null,
  older: 0,
  cleared: false
} satisfies Partial<IState>;

/** Whether cells are not traced, and can be. */
export function canStart({ kernel, tracing }: IState): boolean {
  return kernel === 'absent' || (kernel === 'live' && tracing === false);
}

/** What identifies a record, and the cell while it runs. */
export function keyOf(run: string, cell: ICell): string {
  return `${run}/${cell.sequence}`;
}

/** An entry for a record the kernel sent. */
export function liveEntry(record: IRecord): IEntry {
  const key = keyOf(record.runId, record.cell);
  return { key, record, cellId: record.cell.id, saved: false };
}

/** An entry for a receipt found in the saved outputs of a cell; copies of a cell hold it twice. */
export function savedEntry(record: IRecord, cellId: string): IEntry {
  const { key } = liveEntry(record);
  return { key: `${key}@${cellId}`, record, cellId, saved: true };
}

/** The records to show: those of earlier kernels in the notebook's outputs, then the kernel's own. */
export function shownEntries(state: IState): readonly IEntry[] {
  const { saved, entries, run, cleared } = state;
  if (!hasOwnRecords(state)) {
    return saved;
  }
  const earlier = cleared ? [] : saved.filter(({ record }) => record.runId !== run);
  return earlier.length > 0 ? [...earlier, ...entries] : entries;
}

/** Whether the kernel's own records are the ones to show, even where there are none yet. */
export function hasOwnRecords(state: IState): boolean {
  const any = state.entries.length > 0 || state.running.length > 0 || state.logs.length > 0;
  return state.kernel === 'live' && (any || state.cleared);
}

/** How many log lines there are to show. */
export function countLines(state: IState): number {
  let lines = hasOwnRecords(state) ? state.logs.length : 0;
  for (const { record } of shownEntries(state)) {
    lines += record.logs.length;
  }
  for (const { logs } of state.running) {
    lines += logs.length;
  }
  return lines;
}
