/**
 * Draws of a long list the rows in sight alone, measures them, and keeps what is read in its place. A task makes
 * few of them, first those in sight: the others, and those before and behind them, follow in tasks of their own.
 */

import { useLayoutEffect, useState, useSyncExternalStore } from 'react';

import { RowWindow, type IRange, type KeyOf } from '../record/rowwindow';
import { coalesced } from '../record/slices';

/**
 * Rows that a task makes: more than a step of a scroll brings in sight. A whole list anew takes two or three tasks,
 * each of which is short on a slow machine, too.
 */
const A_TASK = 3;

/** The same for rows of one height, which are lines of few elements and are not measured. */
const A_TASK_OF_LINES = 4;

/** Pixels from the end within which a reader is taken to follow it. */
const AT_END = 24;

/**
 * The rows to draw, each an element with its number as `data-index`, in an element that gets `scroller.props`.
 *
 * `keyOf` tells rows apart; `estimate` is a row's height until it was measured; `follows`: the end is where the
 * list is read, until its reader scrolls away. `alike`: all rows are as high as the first, so that none is measured
 * while one scrolls.
 */
export function useWindow(
  count: number,
  keyOf: KeyOf,
  estimate: number,
  follows = false,
  alike = false
): { rows: RowWindow; range: IRange; scroller: Scroller; away: boolean } {
  const [scroller] = useState(() => new Scroller(estimate, follows, alike));
  const { away } = useSyncExternalStore(scroller.subscribe, scroller.seen);
  const { rows } = scroller;
  scroller.become(count, keyOf);
  const { range } = rows;
  useLayoutEffect(() => scroller.drew(range));
  return { rows, range, scroller, away };
}

/** The element that scrolls, and what is drawn in it. */
export class Scroller {
  constructor(
    estimate: number,
    private readonly follows: boolean,
    private readonly alike: boolean
  ) {
    this.rows = new RowWindow(estimate, follows);
    this.following = follows;
    this.aTask = alike ? A_TASK_OF_LINES : A_TASK;
    this.drawRest = coalesced(() => {
      this.rows.allow(this.aTask);
      if (this.node !== null && this.rows.stale) {
        this.draw();
      }
      // Lines are made quickly, but a frame has to lay out all that were made since the last one.
    }, alike);
  }

  readonly rows: RowWindow;

  /** What the element gets. */
  readonly props = {
    ref: (node: HTMLElement | null): void => this.attach(node),
    onScroll: (): void => this.scrolled()
  };

  /** Updates of a store wait for nothing: what a scroll brings in sight is drawn before the page shows it. */
  readonly subscribe = (onChange: () => void): (() => void) => {
    this.onChange = onChange;
    return () => {
      this.onChange = null;
    };
  };

  /** Another value for each drawing; `away`: the list is followed at its end, and its reader is not there. */
  readonly seen = (): { away: boolean } => this.state;

  /** Scroll to a row, and give the keyboard's focus to its first button; it may have to be drawn first. */
  goTo(index: number, align: 'auto' | 'center'): void {
    this.wanted = { index, align };
    this.following = false;
    // The row that gets the focus has to be there, before the next key is pressed.
    this.rows.allow(Infinity);
    this.settle();
  }

  /** The list has these rows now. */
  become(count: number, keyOf: KeyOf): void {
    if (this.rows.become(count, keyOf)) {
      this.rows.allow(this.aTask);
    }
    if (this.following) {
      // Those at the end are drawn at once, rather than found when they were scrolled to.
      this.rows.see(Infinity);
    }
  }

  /** Rows were drawn. */
  drew(range: IRange): void {
    this.rows.drew(range);
    if (!this.alike) {
      const rows = new Set(this.elements());
      this.observed.forEach(row => rows.has(row) || this.observer.unobserve(row));
      rows.forEach(row => this.observed.has(row) || this.observer.observe(row));
      this.observed = rows;
    }
    this.settle();
  }

  private attach(node: HTMLElement | null): void {
    this.node = node;
    this.stale = true;
    this.observer.disconnect();
    this.observed.clear();
    if (node !== null) {
      this.observer.observe(node);
    }
  }

  private scrolled(): void {
    const { node } = this;
    if (node !== null) {
      if (this.follows) {
        this.following = node.scrollHeight - node.scrollTop - node.clientHeight <= AT_END;
      }
      this.know(node);
      if (this.rows.gap || this.state.away !== this.away) {
        this.rows.allow(this.aTask);
        this.draw();
      } else {
        this.drawRest();
      }
    }
  }

  /** Measure what is drawn, scroll to where it belongs, and draw again until that changes nothing. */
  private settle(): void {
    const { node, rows, wanted } = this;
    if (node === null) {
      return;
    }
    if (this.alike && !this.stale && this.rests) {
      // Nothing has moved but what the scroller's own event told: the page's layout is not asked for.
      this.goOn();
      return;
    }
    if (Math.abs(node.scrollTop - this.known) >= 1 && !this.following) {
      // Scrolled, and the event that tells is still to come: what was seen last is no place to go back to.
      this.know(node);
    }
    if (this.alike ? this.measureOne() : this.measure()) {
      this.draw();
      return;
    }
    const aim = this.aim(node);
    if (aim !== null && Math.abs(aim - node.scrollTop) >= 1) {
      node.scrollTop = aim;
    }
    this.know(node);
    this.goOn();
    if (wanted !== null && !rows.open) {
      this.wanted = null;
      const button = node.querySelector<HTMLElement>(`[data-index="${wanted.index}"] button`);
      button?.focus({ preventScroll: true });
    }
  }

  /** Measure every row that is drawn; answers whether one has another height than was known. */
  private measure(): boolean {
    const { rows } = this;
    const drawn = [...this.elements()];
    const heights = drawn.map(row => row.getBoundingClientRect().height);
    let news = rows.learn(heights);
    drawn.forEach((row, place) => {
      news = rows.set(Number(row.dataset.index), heights[place] ?? 0) || news;
    });
    return news;
  }

  /** Measure one row for all of them, once, and when the list has got another size. */
  private measureOne(): boolean {
    const [row] = this.elements();
    const height = row?.getBoundingClientRect().height ?? 0;
    this.stale = height === 0;
    return height > 0 && this.rows.fix(height);
  }

  /** Whether the list stands where it was seen last, and nobody wants it elsewhere. */
  private get rests(): boolean {
    const { known, wanted, following, rows } = this;
    return (
      wanted === null && !following && (known === 0 || Math.abs((rows.kept ?? known) - known) < 1)
    );
  }

  /** Draw what is still missing: at once what is in sight, the others in a task of their own. */
  private goOn(): void {
    const { rows } = this;
    if (rows.open) {
      this.draw();
      return;
    }
    this.drawRest();
  }

  private know(node: HTMLElement): void {
    this.known = node.scrollTop;
    this.rows.see(this.known, node.clientHeight);
  }

  private aim(node: HTMLElement): number | null {
    if (this.wanted !== null) {
      return this.rows.offsetOf(this.wanted.index, this.wanted.align);
    }
    if (this.following) {
      return node.scrollHeight - node.clientHeight;
    }
    // At the top one sees rows come in.
    return node.scrollTop > 0 ? this.rows.kept : null;
  }

  private get away(): boolean {
    return this.follows && !this.following;
  }

  private elements(): Iterable<HTMLElement> {
    return this.node?.querySelectorAll<HTMLElement>('[data-index]') ?? [];
  }

  private draw(): void {
    this.state = { away: this.away };
    this.onChange?.();
  }

  /** Rows for which this task has no time. */
  private readonly drawRest: () => void;

  private readonly observer = new ResizeObserver(() => {
    this.stale = true;
    this.settle();
  });
  /** Rows that a task makes. */
  private readonly aTask: number;
  /** Nothing was measured since the list has this size. */
  private stale = true;
  private following: boolean;
  private node: HTMLElement | null = null;
  /** Pixels scrolled, when that was last looked at. */
  private known = 0;
  private observed = new Set<HTMLElement>();
  private onChange: (() => void) | null = null;
  private state = { away: false };
  private wanted: { index: number; align: 'auto' | 'center' } | null = null;
}

/** From the row in focus and the number of rows to the row that a key leads to. */
const KEYS: Record<string, (row: number, rows: number) => number> = {
  ArrowDown: (row, rows) => Math.min(row + 1, rows - 1),
  ArrowUp: row => Math.max(row - 1, 0),
  Home: () => 0,
  End: (_, rows) => rows - 1
};

/** The row that a key leads to from the one in which it was pressed; undefined: to none. */
export function rowAtKey(key: string, target: EventTarget, count: number): number | undefined {
  const row = (target as Element).closest<HTMLElement>('[data-index]');
  return row === null ? undefined : KEYS[key]?.(Number(row.dataset.index), count);
}
