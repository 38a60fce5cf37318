/** The state of one notebook as an immutable value, and the records that views list. */

import type { IKernelExit } from './kernelexit';
import type { IDoctor, ISidebarState, IDeviceStatus, IRunning } from './messages';
import type { ILogLine } from '../record/logs';
import type { ILoadProblem } from './loading';
import type { ICell, IRecord } from '../record/record';
import type { IProgress } from './progress';
import type { IFigure } from './savedfigures';

/** State of the kernel. Only a `live` kernel has records of its own. */
export type KernelState =
  | 'none' // the notebook has no kernel
  | 'asking' // whether the extension is loaded is not known yet
  | 'other' // not a Python kernel: left alone
  | 'absent' // the extension is not loaded
  | 'silent' // the extension is loaded and did not answer
  | 'live'
  | 'dead';

/** A record with what the list needs to draw it. */
export interface IEntry {
  key: string;
  record: IRecord;
  /** Id of the cell to go to; null if the record names none. */
  cellId: string | null;
  saved: boolean;
}

/** A running cell, with the time on the browser's clock at which its elapsed time was valid. */
export interface IRunningCell extends IRunning {
  /** Number of older log lines that were dropped. */
  earlierLogs: number;
  /** Milliseconds on this browser's monotonic clock at which `elapsed` was valid. */
  receivedAt: number;
}

export interface IState {
  kernel: KernelState;
  /** True if the kernel was restarted since the page was opened. */
  restarted: boolean;
  /** Exit cause of the kernel until its successor runs a cell; null if it is not known. */
  exit: IKernelExit | null;
  run: string | null;
  tracing: boolean | null;
  /** State of a request to start tracing: under way, or failed; null if there is none. */
  starting: 'loading' | ILoadProblem | null;
  device: IDeviceStatus | null;
  choices: ISidebarState | null;
  doctor: IDoctor | null;
  /** Version of Python. */
  python: string | null;
  /** True while the kernel runs a cell, measured or not. */
  executing: boolean;
  /** Running cells. Nested cells follow the cell that runs them, so the last is the innermost. */
  running: readonly IRunningCell[];
  /** Lines of no cell, printed before the first record. */
  logs: readonly ILogLine[];
  /** Oldest first. */
  entries: readonly IEntry[];
  /** Record of the cell that ended last while the page was open. */
  ended: IRecord | null;
  /** Number of records in the kernel that are older than those here. */
  older: number;
  /** True if the user cleared the records and none has come since. */
  cleared: boolean;
  /** Receipts in the notebook's outputs, oldest first. */
  saved: readonly IEntry[];
  /** Plans, races and other figures in the outputs, in the notebook's order. */
  figures: readonly IFigure[];
  /** Progress of the lesson; null if the notebook is none. */
  progress: IProgress | null;
}

/** State of a kernel that has sent nothing. */
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

/** Return true if cells are traced, or will be when the running cell ends. */
export function isTracing({ kernel, tracing, choices }: IState): boolean {
  return kernel === 'live' && (choices?.trace ?? tracing) !== false;
}

/** Return true if cells are not traced, and can be. */
export function canStart(state: IState): boolean {
  return ['absent', 'live'].includes(state.kernel) && !isTracing(state);
}

/** Return the key of a record, which its cell has while it runs. */
export function keyOf(run: string, cell: ICell): string {
  return `${run}/${cell.sequence}`;
}

/** Return an entry for a record from the kernel. */
export function liveEntry(record: IRecord): IEntry {
  const key = keyOf(record.runId, record.cell);
  return { key, record, cellId: record.cell.id, saved: false };
}

/**
 * Return an entry for a receipt in a saved output. The key has the cell, because copies of a cell hold the
 * receipt too.
 */
export function savedEntry(record: IRecord, cellId: string): IEntry {
  const { key } = liveEntry(record);
  return { key: `${key}@${cellId}`, record, cellId, saved: true };
}

/** Return the records to list: earlier kernels' records in the notebook's outputs, then the kernel's own. */
export function shownEntries(state: IState): readonly IEntry[] {
  const { saved, entries, run, cleared } = state;
  if (!hasOwnRecords(state)) {
    return saved;
  }
  const earlier = cleared ? [] : saved.filter(({ record }) => record.runId !== run);
  return earlier.length > 0 ? [...earlier, ...entries] : entries;
}

/** Return true if the kernel's own records are listed, even if there are none yet. */
export function hasOwnRecords(state: IState): boolean {
  const any = state.entries.length > 0 || state.running.length > 0 || state.logs.length > 0;
  return state.kernel === 'live' && (any || state.cleared);
}

/** Return the number of log lines to list. */
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
