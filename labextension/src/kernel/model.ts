/**
 * Keeps the state of one notebook right: what its kernel tells, in whatever order it arrives. No DOM,
 * no network.
 */

import { Signal } from '@lumino/signaling';

import { Counters } from './counters';
import type { IKernelExit } from './kernelexit';
import type { ILogLine } from '../record/logs';
import type { Event, IDelta, IPage, ISnapshot } from './protocol';
import type { IProgress } from './progress';
import { Records, type IPlaced } from '../record/records';
import type { IFigure } from './savedfigures';
import { NOTHING_KNOWN, liveEntry } from './state';
import type { IEntry, IRunningCell, IState, KernelState } from './state';

/** Deltas that wait while a snapshot is on its way; more than that, and the gap is asked for again. */
const MOST_EARLY = 200;

/** Lines kept of a running cell, and of no cell; the newest, for the record will bring all of them. */
const LIVE_LINES = 2_000;

/**
 * State of one notebook, fed by deltas and snapshots in any order.
 *
 * `clock` gives milliseconds of a monotonic clock; tests bring their own.
 */
export class KernelModel {
  constructor(private readonly clock: () => number = () => performance.now()) {}

  /** What the machine does now, beside the state. */
  readonly counters = new Counters();

  /** A value that is replaced, never changed. */
  get state(): IState {
    return this.current;
  }

  readonly stateChanged = new Signal<this, void>(this);

  /** The extension was loaded just now, rather than found loaded. */
  readonly greeted = new Signal<this, void>(this);

  /** The kernel's state became known; only a live kernel, or one being asked again, keeps its records. */
  setKernel(kernel: KernelState): void {
    if (kernel === 'asking' || kernel === 'silent') {
      this.publish({ kernel });
    } else {
      const { death, executing, restarted, starting } = this.current;
      const absent = kernel === 'absent';
      this.forget({
        kernel,
        executing: absent && executing,
        death: absent || kernel === 'dead' ? death : null,
        restarted: absent && restarted,
        // It may have been wished for before the kernel had answered.
        starting: absent ? starting : null
      });
    }
  }

  /** Why the kernel died, where that is known; its successor's own word is newer. */
  setDeath(death: IKernelExit | null): void {
    if (this.current.kernel !== 'live' && death !== this.current.death) {
      this.publish({ death });
    }
  }

  /** Whether the kernel runs a cell. */
  setExecuting(executing: boolean): void {
    if (executing !== this.current.executing) {
      this.publish({ executing });
    }
  }

  /** What became of the wish to start tracing. */
  setStarting(starting: IState['starting']): void {
    this.publish({ starting });
  }

  /** The kernel process is a new one: nothing that the old one said holds. */
  restart(): void {
    this.gone = this.current.run ?? this.gone;
    this.forget({ kernel: 'asking', restarted: true, executing: false });
  }

  setSaved(
    saved: readonly IEntry[],
    figures: readonly IFigure[],
    progress: IProgress | null
  ): void {
    this.publish({ saved, figures, progress });
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
      this.early = [...this.early, received].slice(-MOST_EARLY);
    }
    this.apply([received], { kernel: 'live', restarted: false, death: null });
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
    const running = snapshot.running ? [{ ...snapshot.running, earlierLogs: 0, seenAt: at }] : [];
    const told = { run, tracing, device, choices, doctor, python, running, logs };
    this.records.takeNewest(placed(snapshot.page));
    this.counters.restore(snapshot.counters);
    this.apply(newer, { kernel: 'live', restarted: false, death: null, ...told });
    return !complete;
  }

  /** The place before which records are missing that the kernel has; null where there is none. */
  get missing(): number | null {
    return this.current.kernel === 'live' ? this.records.missing : null;
  }

  /** Take in records that were asked for. */
  applyPage(page: IPage): void {
    if (page.run === this.current.run) {
      this.records.takeOlder(placed(page));
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
      // Counters come twice a second: nothing else is drawn again for them.
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
        const cell = { ...event.running, earlierLogs: 0, seenAt: at };
        return { running: [...without(state.running, cell.cell.sequence), cell] };
      }
      case 'record': {
        const entry = liveEntry(event.record);
        this.records.put(entry, event.place);
        const ended = event.record.runId === state.run ? event.record.cell.sequence : null;
        return {
          running: without(state.running, ended),
          cleared: false,
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
    death: null,
    executing: false,
    saved: [],
    figures: [],
    progress: null
  };
  private readonly records = new Records();
  /** The run that ended with a restart. */
  private gone: string | null = null;
  /** Number of the last delta seen of this run. */
  private seq = 0;
  /** A snapshot is wanted: deltas wait until it has come. */
  private waiting = false;
  private early: IReceived[] = [];
}

/** A delta with the browser's clock when it came. */
interface IReceived {
  delta: IDelta;
  at: number;
}

function placed({ records, ...places }: IPage): IPlaced {
  return { ...places, entries: records.map(record => record && liveEntry(record)) };
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
