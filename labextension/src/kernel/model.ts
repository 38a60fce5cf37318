/** The state of one notebook, from the messages of its kernel in any order. No DOM, no network. */

import { Signal } from '@lumino/signaling';

import { Counters } from './counters';
import type { IKernelExit } from './kernelexit';
import { LastTimes } from './lasttimes';
import type { ILogLine } from '../record/logs';
import type { IRecords as IPage } from './messages';
import type { Event, IDelta, ISnapshot } from './protocol';
import type { IProgress } from './progress';
import type { IRecord } from '../record/record';
import { Records, type IRecordRange } from '../record/records';
import type { IFigure } from './savedfigures';
import { NOTHING_KNOWN, liveEntry } from './state';
import type { IEntry, IRunningCell, IState, KernelState } from './state';

/** Largest number of deltas kept while a snapshot is under way; beyond it the gap is requested again. */
const MOST_EARLY = 200;

/** Largest number of log lines kept of a running cell, and of no cell. The record brings all lines. */
const LIVE_LINES = 2_000;

/**
 * State of one notebook, updated by deltas and snapshots in any order.
 *
 * `clock` gives milliseconds of a monotonic clock; tests pass their own.
 */
export class KernelModel {
  constructor(private readonly clock: () => number = () => performance.now()) {}

  /** Live counters, kept apart from the state. */
  readonly counters = new Counters();

  /** An immutable value. */
  get state(): IState {
    return this.current;
  }

  readonly stateChanged = new Signal<this, void>(this);

  /** Emitted when the extension is loaded while the page is open. */
  readonly greeted = new Signal<this, void>(this);

  /** Set the kernel's state. Only a live kernel, or one that is asked again, keeps its records. */
  setKernel(kernel: KernelState): void {
    if (kernel === 'asking' || kernel === 'silent') {
      this.publish({ kernel });
    } else {
      const { exit, executing, restarted, starting } = this.current;
      const absent = kernel === 'absent';
      this.forget({
        kernel,
        executing: absent && executing,
        exit: absent || kernel === 'dead' ? exit : null,
        restarted: absent && restarted,
        // The user may have asked for it before the kernel had answered.
        starting: absent ? starting : null
      });
    }
  }

  /** Set the exit cause, unless the kernel's successor has already run a cell. */
  setExit(exit: IKernelExit | null): void {
    const { entries, running } = this.current;
    if (entries.length + running.length === 0 && exit !== this.current.exit) {
      this.publish({ exit });
    }
  }

  setExecuting(executing: boolean): void {
    if (executing !== this.current.executing) {
      this.publish({ executing });
    }
  }

  /** Set the progress of a request to start tracing. */
  setStarting(starting: IState['starting']): void {
    this.publish({ starting });
  }

  /** Forget the state of the old process, because the kernel has restarted. */
  restart(): void {
    this.gone = this.current.run ?? this.gone;
    this.forget({ kernel: 'asking', restarted: true, executing: false });
  }

  setSaved(
    saved: readonly IEntry[],
    figures: readonly IFigure[],
    progress: IProgress | null
  ): void {
    saved.forEach(({ record }) => this.lastTimes.add(record));
    this.publish({ saved, figures, progress });
  }

  /**
   * Return the seconds that the running cell's code took when it last ran in this notebook; null if it has
   * not, or if a profiler or a check makes this run slower.
   */
  lastTime({ cell, mode }: IRunningCell): number | null {
    return mode === 'light' ? this.lastTimes.of(cell) : null;
  }

  /**
   * Apply a delta at once, even while a snapshot is under way.
   *
   * Returns true if a snapshot is needed: an earlier delta was missed, or the kernel said hello.
   */
  applyDelta(delta: IDelta): boolean {
    if (delta.run === this.gone) {
      // A late message of the process before the restart.
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
      this.early = [...this.early, received].slice(-MOST_EARLY);
    }
    this.apply([received], { kernel: 'live', restarted: false });
    return wanted;
  }

  /**
   * Apply a snapshot, then again the deltas that are newer.
   *
   * Returns true if another snapshot is needed, because deltas in between are missing.
   */
  applySnapshot(snapshot: ISnapshot): boolean {
    const at = this.clock();
    this.gone = null;
    const newer = this.early.filter(
      ({ delta }) => delta.run === snapshot.run && delta.seq > snapshot.seq
    );
    const complete = newer.every(
      ({ delta }, index) => delta.prev === (newer[index - 1]?.delta.seq ?? snapshot.seq)
    );
    this.waiting = !complete;
    this.early = complete ? [] : newer;
    this.seq = newer.at(-1)?.delta.seq ?? snapshot.seq;

    if (snapshot.run !== this.current.run) {
      this.records.clear();
    }
    const { run, tracing, device, choices, doctor, python, logs } = snapshot;
    const running = snapshot.running
      ? [{ ...snapshot.running, earlierLogs: 0, receivedAt: at }]
      : [];
    const exit = running.length + snapshot.page.records.length > 0 ? null : this.current.exit;
    const fields = { run, tracing, device, choices, doctor, python, running, logs, exit };
    this.records.takeNewest(this.rangeOf(snapshot.page));
    this.counters.restore(snapshot.counters);
    this.apply(newer, { kernel: 'live', restarted: false, ...fields });
    return !complete;
  }

  /** Place before which records of the kernel are missing here; null if none is missing. */
  get missing(): number | null {
    return this.current.kernel === 'live' ? this.records.missing : null;
  }

  /** Add the older records of a page that was requested. */
  applyPage(page: IPage): void {
    if (page.run === this.current.run) {
      this.records.takeOlder(this.rangeOf(page));
      this.publish({ entries: this.records.entries(), older: this.records.older });
    }
  }

  private apply(deltas: readonly IReceived[], known: Partial<IState>): void {
    let state: IState = { ...this.current, ...known };
    let news = Object.entries(known).some(
      ([name, value]) => this.current[name as keyof IState] !== value
    );
    for (const { delta, at } of deltas) {
      for (const event of delta.events) {
        if (event.type === 'counters') {
          this.counters.add(event.counters);
        } else {
          state = { ...state, ...this.change(state, event, at) };
          news = true;
        }
      }
    }
    if (!news) {
      // Counters come twice a second, and nothing else is drawn again for them.
      return;
    }
    this.publish({ ...state, entries: this.records.entries(), older: this.records.older });
  }

  private change(
    state: IState,
    event: Exclude<Event, { type: 'counters' }>,
    at: number
  ): Partial<IState> {
    switch (event.type) {
      case 'hello':
        this.greeted.emit();
        return {};
      case 'running': {
        const cell = { ...event.running, earlierLogs: 0, receivedAt: at };
        return { running: [...without(state.running, cell.cell.sequence), cell], exit: null };
      }
      case 'record': {
        this.records.put(this.entryOf(event.record), event.place);
        const ended = event.record.runId === state.run ? event.record.cell.sequence : null;
        return {
          running: without(state.running, ended),
          cleared: false,
          exit: null,
          ended: ended === null ? state.ended : event.record
        };
      }
      case 'logs':
        return event.sequence === null
          ? { logs: [...state.logs, ...event.lines].slice(-LIVE_LINES) }
          : { running: state.running.map(cell => withLines(cell, event.sequence, event.lines)) };
      case 'device':
        return { device: event.device };
      case 'choices':
        return { choices: event.choices };
      case 'doctor':
        return { doctor: event.doctor };
      case 'progress': {
        const { sequence, progress } = event;
        return {
          running: state.running.map(cell =>
            cell.cell.sequence === sequence ? { ...cell, progress } : cell
          )
        };
      }
      case 'trace':
        return { tracing: event.on };
      case 'cleared':
        this.records.clear();
        return { logs: [], cleared: true };
      case 'goodbye':
        this.records.clear();
        return { ...NOTHING_KNOWN, kernel: 'absent' };
    }
  }

  private rangeOf({ records, ...places }: IPage): IRecordRange {
    return { ...places, entries: records.map(record => record && this.entryOf(record)) };
  }

  private entryOf(record: IRecord): IEntry {
    this.lastTimes.add(record);
    return liveEntry(record);
  }

  private forget(known: Partial<IState>): void {
    this.counters.forget();
    this.seq = 0;
    this.waiting = false;
    this.early = [];
    this.records.clear();
    this.publish({ ...NOTHING_KNOWN, ...known });
  }

  private publish(known: Partial<IState>): void {
    this.current = { ...this.current, ...known };
    this.stateChanged.emit();
  }

  private current: IState = {
    ...NOTHING_KNOWN,
    kernel: 'none',
    restarted: false,
    exit: null,
    executing: false,
    saved: [],
    figures: [],
    progress: null
  };
  private readonly records = new Records();
  private readonly lastTimes = new LastTimes();
  /** Id of the run that ended with a restart. */
  private gone: string | null = null;
  /** Number of the last delta of this run. */
  private seq = 0;
  /** True while a snapshot is needed; deltas are kept until it comes. */
  private waiting = false;
  private early: IReceived[] = [];
}

/** A delta with the browser's clock at its arrival. */
interface IReceived {
  delta: IDelta;
  at: number;
}

function without(running: readonly IRunningCell[], sequence: number | null): IRunningCell[] {
  return running.filter(({ cell }) => cell.sequence !== sequence);
}

function withLines(
  cell: IRunningCell,
  sequence: number | null,
  lines: readonly ILogLine[]
): IRunningCell {
  if (cell.cell.sequence !== sequence) {
    return cell;
  }
  const logs = [...cell.logs, ...lines];
  const over = Math.max(0, logs.length - LIVE_LINES);
  return { ...cell, logs: logs.slice(over), earlierLogs: cell.earlierLogs + over };
}
