/**
 * What one kernel has told us so far, and what its saved notebook holds. No DOM, no network.
 */

import { Signal } from '@lumino/signaling';
import type { ISignal } from '@lumino/signaling';

import type { Event, IDelta, IDeviceStatus, IRecord, IRunning, ISnapshot } from './protocol';

/** Records kept for a notebook; the oldest are let go beyond it. */
const CAPACITY = 20_000;

/** Deltas held while a snapshot is on its way; more than that, and the gap is asked for again. */
const HELD = 200;

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
  /** Milliseconds on this browser's monotonic clock when `elapsed` was true. */
  seenAt: number;
}

export interface IState {
  kernel: KernelState;
  /** The kernel was restarted since we first saw it. */
  restarted: boolean;
  run: string | null;
  tracing: boolean | null;
  device: IDeviceStatus | null;
  /** Nested cells run inside each other: the last one is the innermost. */
  running: readonly IRunningCell[];
  /** Oldest first. */
  entries: readonly IEntry[];
  /** Records the kernel holds that are older than the ones here. */
  older: number;
  /** The user cleared the records, and none has come since. */
  cleared: boolean;
  /** Receipts found in the notebook's outputs, oldest first. */
  saved: readonly IEntry[];
}

const NOTHING_KNOWN = {
  run: null,
  tracing: null,
  device: null,
  running: [],
  entries: [],
  older: 0,
  cleared: false
} satisfies Partial<IState>;

/** An entry for a record the kernel sent. */
export function liveEntry(record: IRecord): IEntry {
  const key = `${record.runId}/${record.cell.sequence}`;
  return { key, record, cellId: record.cell.id, saved: false };
}

/** An entry for a receipt found in the saved outputs of a cell; copies of a cell hold it twice. */
export function savedEntry(record: IRecord, cellId: string): IEntry {
  const { key } = liveEntry(record);
  return { key: `${key}@${cellId}`, record, cellId, saved: true };
}

/** The records to show: the kernel's own, or those of the saved notebook while it has none. */
export function shownEntries(state: IState): readonly IEntry[] {
  const ofKernel = state.entries.length > 0 || state.running.length > 0 || state.cleared;
  return state.kernel === 'live' && ofKernel ? state.entries : state.saved;
}

/**
 * State of one notebook, fed by deltas and snapshots in any order.
 *
 * `clock` gives milliseconds of a monotonic clock; tests bring their own.
 */
export class KernelModel {
  constructor(private readonly clock: () => number = () => performance.now()) {}

  /** A value that is replaced, never changed. */
  get state(): IState {
    return this.current;
  }

  get stateChanged(): ISignal<this, void> {
    return this.changed;
  }

  /** The extension was loaded just now, rather than found loaded. */
  get greeted(): ISignal<this, void> {
    return this.hello;
  }

  /** The kernel's state became known; only a live kernel, or one being asked again, keeps its records. */
  setKernel(kernel: KernelState): void {
    if (kernel === 'asking' || kernel === 'silent') {
      this.publish({ kernel });
    } else {
      this.forget({ kernel, restarted: kernel === 'absent' && this.current.restarted });
    }
  }

  /** The kernel process is a new one: nothing that the old one said holds. */
  restart(): void {
    this.gone = this.current.run ?? this.gone;
    this.forget({ kernel: 'asking', restarted: true });
  }

  setSaved(saved: readonly IEntry[]): void {
    this.publish({ saved });
  }

  /**
   * Take a delta in. It counts at once, also while a snapshot is on its way.
   *
   * Answers whether a snapshot is wanted: a delta before this one was missed, or the kernel said hello.
   */
  applyDelta(delta: IDelta): boolean {
    if (delta.run === this.gone) {
      // The last words of a process that was restarted.
      return false;
    }
    if (delta.run !== this.current.run) {
      this.forget({ run: delta.run });
    } else if (delta.seq <= this.seq) {
      return false;
    }
    const wanted = delta.prev !== this.seq || delta.events.some(event => event.type === 'hello');
    this.seq = delta.seq;
    this.waiting ||= wanted;
    const received = { delta, at: this.clock() };
    if (this.waiting) {
      this.held = [...this.held, received].slice(-HELD);
    }
    this.apply([received], { kernel: 'live', restarted: false });
    return wanted;
  }

  /**
   * Take a snapshot in, then once more the deltas that are newer than it.
   *
   * Answers whether another snapshot is wanted, because deltas between the two are missing.
   */
  applySnapshot(snapshot: ISnapshot): boolean {
    const at = this.clock();
    this.gone = null;
    const newer = this.held.filter(
      ({ delta }) => delta.run === snapshot.run && delta.seq > snapshot.seq
    );
    const complete = newer.every(
      ({ delta }, index) => delta.prev === (newer[index - 1]?.delta.seq ?? snapshot.seq)
    );
    this.waiting = !complete;
    this.held = complete ? [] : newer;
    this.seq = newer.at(-1)?.delta.seq ?? snapshot.seq;

    const received = snapshot.records.map(liveEntry);
    const known = [...this.records.values()];
    const joint = known.findIndex(entry => entry.key === received[0]?.key);
    // A snapshot holds the newest records only; older ones of the same run that we have stay.
    const before = snapshot.older > 0 && joint > 0 ? known.slice(0, joint) : [];
    this.records = new Map([...before, ...received].map(entry => [entry.key, entry]));
    this.apply(newer, {
      kernel: 'live',
      restarted: false,
      run: snapshot.run,
      tracing: snapshot.tracing,
      device: snapshot.device,
      running: snapshot.running ? [{ ...snapshot.running, seenAt: at }] : [],
      older: Math.max(0, snapshot.older - before.length)
    });
    return !complete;
  }

  private apply(deltas: readonly IReceived[], known: Partial<IState>): void {
    let state: IState = { ...this.current, ...known };
    for (const { delta, at } of deltas) {
      for (const event of delta.events) {
        state = { ...state, ...this.change(state, event, at) };
      }
    }
    for (const key of this.records.keys()) {
      if (this.records.size <= CAPACITY) {
        break;
      }
      this.records.delete(key);
    }
    this.publish({ ...state, entries: [...this.records.values()] });
  }

  private change(state: IState, event: Event, at: number): Partial<IState> {
    switch (event.type) {
      case 'hello':
        this.hello.emit();
        return {};
      case 'running': {
        const cell = { ...event.running, seenAt: at };
        return { running: [...without(state.running, cell.cell.sequence), cell] };
      }
      case 'record': {
        const entry = liveEntry(event.record);
        this.records.set(entry.key, entry);
        const ended = event.record.runId === state.run ? event.record.cell.sequence : null;
        return { running: without(state.running, ended), cleared: false };
      }
      case 'device':
        return { device: event.device };
      case 'trace':
        return { tracing: event.on };
      case 'cleared':
        this.records.clear();
        return { older: 0, cleared: true };
      case 'goodbye':
        this.records.clear();
        return { ...NOTHING_KNOWN, kernel: 'absent' };
    }
  }

  private forget(known: Partial<IState>): void {
    this.seq = 0;
    this.waiting = false;
    this.held = [];
    this.records = new Map();
    this.publish({ ...NOTHING_KNOWN, ...known });
  }

  private publish(known: Partial<IState>): void {
    this.current = { ...this.current, ...known };
    this.changed.emit();
  }

  private readonly changed = new Signal<this, void>(this);
  private readonly hello = new Signal<this, void>(this);
  private current: IState = {
    ...NOTHING_KNOWN,
    kernel: 'none',
    restarted: false,
    saved: []
  };
  private records = new Map<string, IEntry>();
  /** The run that ended with a restart. */
  private gone: string | null = null;
  /** Number of the last delta seen of this run. */
  private seq = 0;
  /** A snapshot is wanted: deltas are held until it has come. */
  private waiting = false;
  private held: IReceived[] = [];
}

/** A delta with the browser's clock when it came. */
interface IReceived {
  delta: IDelta;
  at: number;
}

function without(running: readonly IRunningCell[], sequence: number | null): IRunningCell[] {
  return running.filter(({ cell }) => cell.sequence !== sequence);
}
