/**
 * The plans, races, benchmarks and collections of engines in a notebook's outputs, for the sidebar: found again
 * whenever the notebook changes.
 */

import type { NotebookPanel } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';
import type { ISignal } from '@lumino/signaling';

import { BENCH_TYPE, readBench } from './bench';
import type { IBench } from './bench';
import { ENGINES_TYPE, readEngines } from './engines';
import type { IEngines } from './engines';
import { PLAN_TYPE, readPlan } from './plan';
import type { IPlan } from './plan';
import { RACE_TYPE, readRace } from './race';
import type { IRace } from './race';
import { outputsOf } from './outputs';
import { object } from './untrusted';
import type { Unreadable } from './untrusted';

interface IPlace {
  /** Tells the outputs of a notebook apart. */
  key: string;
  cellId: string;
  executionCount: number | null;
}

export type IFigure = IPlace & Drawn;

/** Milliseconds of quiet after a change before the outputs are looked through again. */
const QUIET = 300;

/** Milliseconds after which looking them through lets the page go on: JupyterLab copies each output. */
const SLICE = 8;

/** The newest so many: older ones stand in the notebook all the same. */
const MOST = 50;

export class Figures {
  constructor(private readonly notebook: NotebookPanel) {
    const { context } = notebook;
    context.ready.then(
      () => {
        void this.look();
        context.model.contentChanged.connect(this.lookSoon, this);
      },
      () => undefined
    );
    notebook.disposed.connect(() => clearTimeout(this.timer));
  }

  /** In the notebook's order. */
  get all(): readonly IFigure[] {
    return this.found;
  }

  get changed(): ISignal<this, void> {
    return this.changedSignal;
  }

  private lookSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.look(), QUIET);
  }

  private async look(): Promise<void> {
    const turn = ++this.turns;
    const found: IFigure[] = [];
    let end = performance.now() + SLICE;
    for (const figure of figuresIn(this.notebook)) {
      if (figure !== null) {
        found.push(figure);
      }
      if (performance.now() > end) {
        await new Promise(resolve => setTimeout(resolve));
        end = performance.now() + SLICE;
      }
      // What has changed meanwhile is looked through anew.
      if (turn !== this.turns || this.notebook.isDisposed) {
        return;
      }
    }
    this.tell(found.slice(-MOST));
  }

  private tell(found: readonly IFigure[]): void {
    if (found.length !== this.found.length || found.some((one, at) => one !== this.found[at])) {
      this.found = found;
      this.changedSignal.emit();
    }
  }

  private turns = 0;
  private found: readonly IFigure[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly changedSignal = new Signal<this, void>(this);
}

/** For each output its figure, or null for another. */
function* figuresIn(notebook: NotebookPanel): Generator<IFigure | null> {
  const { model } = notebook;
  for (const { cell, index, data } of model === null ? [] : outputsOf(model)) {
    const { id, executionCount } = cell;
    yield data && figureOf(data, { key: `${id}/${index}`, cellId: id, executionCount });
  }
}

/** The figure in an output, read once: as long as the data is the same, so is the figure. */
function figureOf(bundle: Record<string, unknown>, place: IPlace): IFigure | null {
  const found = READERS.find(([type]) => type in bundle);
  const data = found ? object(bundle[found[0]]) : null;
  if (!found || data === null) {
    return null;
  }
  const before = known.get(data);
  if (before?.key === place.key && before.executionCount === place.executionCount) {
    return before;
  }
  const read = found[1](data);
  if (read === null) {
    return null;
  }
  const figure = { ...place, ...read };
  known.set(data, figure);
  return figure;
}

type Drawn = { plan: IPlan } | { race: IRace } | { bench: IBench } | { engines: IEngines };

/** What each type of data is read as; null: it cannot be read. */
const READERS: readonly (readonly [type: string, read: (data: object) => Drawn | null])[] = [
  [PLAN_TYPE, data => readable(readPlan(data), plan => ({ plan }))],
  [RACE_TYPE, data => readable(readRace(data), race => ({ race }))],
  [BENCH_TYPE, data => readable(readBench(data), bench => ({ bench }))],
  [ENGINES_TYPE, data => readable(readEngines(data), engines => ({ engines }))]
];

function readable<T extends object>(
  read: T | Unreadable,
  named: (figure: T) => Drawn
): Drawn | null {
  return typeof read === 'string' ? null : named(read);
}

const known = new WeakMap<object, IFigure>();
