/**
 * Draws only the visible rows of a long list, measures them, and keeps the reading position. Each task makes
 * a few rows, visible ones first; the others follow in later tasks.
 */

import { useLayoutEffect, useState, useSyncExternalStore } from 'react';

import { RowWindow, type IRange, type KeyOf } from '../record/rowwindow';
import { coalesced } from '../record/slices';

/**
 * Rows made in a task; a step of scrolling reveals fewer. A new list takes two or three tasks, each short
 * even on a slow machine.
 */
const A_TASK = 3;

/** Rows made in a task if all have one height: these have few elements and are not measured. */
const A_TASK_OF_LINES = 4;

/** Largest distance in pixels from the end at which the list is followed. */
const AT_END = 24;

/**
 * Return the rows to draw, as elements with their index in `data-index`, within an element that gets
 * `scroller.props`.
 *
 * `keyOf` identifies rows; `estimate` is the height of a row until it was measured. With `follows` the list
 * stays at its end until the reader scrolls away. With `alike` all rows have the height of the first, and are
 * not measured while scrolling.
 */
export function useWindow(
  count: number,
  keyOf: KeyOf,
  estimate: number,
  follows = false,
  alike = false
): { rows: RowWindow; range: IRange; scroller: Scroller; away: boolean } {
  const [scroller] = useState(() => new Scroller(estimate, follows, alike));
  const { away } = useSyncExternalStore(scroller.subscribe, scroller.getState);
  const { rows } = scroller;
  scroller.setRows(count, keyOf);
  const { range } = rows;
  useLayoutEffect(() => scroller.setDrawn(range));
  return { rows, range, scroller, away };
}

/** The scrolling element and the rows in it. */
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
      this.rows.allowRows(this.aTask);
      if (this.node !== null && this.rows.stale) {
        this.draw();
      }
      // Lines are made quickly, but a frame has to lay out all lines made since the last one.
    }, alike);
  }

  readonly rows: RowWindow;

  /** Props of the scrolling element. */
  readonly props = {
    ref: (node: HTMLElement | null): void => this.attach(node),
    onScroll: (): void => this.onScroll()
  };

  /**
   * A store, because React applies its updates synchronously: scrolled rows are drawn before the next frame.
   */
  readonly subscribe = (onChange: () => void): (() => void) => {
    this.onChange = onChange;
    return () => {
      this.onChange = null;
    };
  };

  /** Return a new object for each drawing; `away` is true if the reader has left the followed end. */
  readonly getState = (): { away: boolean } => this.state;

  /** Scroll to a row, drawn first if necessary, and focus its first button. */
  goTo(index: number, align: 'auto' | 'center'): void {
    this.wanted = { index, align };
    this.following = false;
    // The row must have the focus before the next key is pressed.
    this.rows.allowRows(Infinity);
    this.settle();
  }

  /** Set the rows of the list. */
  setRows(count: number, keyOf: KeyOf): void {
    if (this.rows.setRows(count, keyOf)) {
      this.rows.allowRows(this.aTask);
    }
    if (this.following) {
      // Rows at the end are drawn at once, rather than after scrolling there.
      this.rows.setView(Infinity);
    }
  }

  /** Called after rows were drawn. */
  setDrawn(range: IRange): void {
    this.rows.setDrawn(range);
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

  private onScroll(): void {
    const { node } = this;
    if (node !== null) {
      if (this.follows) {
        this.following = node.scrollHeight - node.scrollTop - node.clientHeight <= AT_END;
      }
      this.readPosition(node);
      if (this.rows.hasGap || this.state.away !== this.away) {
        this.rows.allowRows(this.aTask);
        this.draw();
      } else {
        this.drawRest();
      }
    }
  }

  /** Measure the drawn rows, scroll to the right position, and draw again until nothing changes. */
  private settle(): void {
    const { node, rows, wanted } = this;
    if (node === null) {
      return;
    }
    if (this.alike && !this.stale && this.isSettled) {
      // Nothing has changed since the scroll event, so reading the layout is avoided.
      this.drawMissing();
      return;
    }
    if (Math.abs(node.scrollTop - this.known) >= 1 && !this.following) {
      // The position has changed, but its scroll event is still to come.
      this.readPosition(node);
    }
    if (this.alike ? this.measureOne() : this.measure()) {
      this.draw();
      return;
    }
    const target = this.targetPosition(node);
    if (target !== null && Math.abs(target - node.scrollTop) >= 1) {
      node.scrollTop = target;
    }
    this.readPosition(node);
    this.drawMissing();
    if (wanted !== null && !rows.canDraw) {
      this.wanted = null;
      const button = node.querySelector<HTMLElement>(`[data-index="${wanted.index}"] button`);
      button?.focus({ preventScroll: true });
    }
  }

  /** Measure every drawn row; returns true if a height has changed. */
  private measure(): boolean {
    const { rows } = this;
    const drawn = [...this.elements()];
    const heights = drawn.map(row => row.getBoundingClientRect().height);
    let news = rows.estimateFrom(heights);
    drawn.forEach((row, place) => {
      news = rows.setHeight(Number(row.dataset.index), heights[place] ?? 0) || news;
    });
    return news;
  }

  /** Measure one row for all rows, once for each size of the list. */
  private measureOne(): boolean {
    const [row] = this.elements();
    const height = row?.getBoundingClientRect().height ?? 0;
    this.stale = height === 0;
    return height > 0 && this.rows.setAllHeights(height);
  }

  /** True if the list is at its last known position and no other one is requested. */
  private get isSettled(): boolean {
    const { known, wanted, following, rows } = this;
    return (
      wanted === null &&
      !following &&
      (known === 0 || Math.abs((rows.anchoredTop ?? known) - known) < 1)
    );
  }

  /** Draw missing rows: visible ones at once, the others in a later task. */
  private drawMissing(): void {
    const { rows } = this;
    if (rows.canDraw) {
      this.draw();
      return;
    }
    this.drawRest();
  }

  private readPosition(node: HTMLElement): void {
    this.known = node.scrollTop;
    this.rows.setView(this.known, node.clientHeight);
  }

  private targetPosition(node: HTMLElement): number | null {
    if (this.wanted !== null) {
      return this.rows.offsetOf(this.wanted.index, this.wanted.align);
    }
    if (this.following) {
      return node.scrollHeight - node.clientHeight;
    }
    // At the top, new rows push the others down.
    return node.scrollTop > 0 ? this.rows.anchoredTop : null;
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

  /** Draws rows in a later task. */
  private readonly drawRest: () => void;

  private readonly observer = new ResizeObserver(() => {
    this.stale = true;
    this.settle();
  });
  /** Rows made in a task. */
  private readonly aTask: number;
  /** True until rows were measured at the current size. */
  private stale = true;
  private following: boolean;
  private node: HTMLElement | null = null;
  /** Last known scroll position in pixels. */
  private known = 0;
  private observed = new Set<HTMLElement>();
  private onChange: (() => void) | null = null;
  private state = { away: false };
  private wanted: { index: number; align: 'auto' | 'center' } | null = null;
}

/** For each key, the index of the next row from the current index and the number of rows. */
const KEYS: Record<string, (row: number, rows: number) => number> = {
  ArrowDown: (row, rows) => Math.min(row + 1, rows - 1),
  ArrowUp: row => Math.max(row - 1, 0),
  Home: () => 0,
  End: (_, rows) => rows - 1
};

/** Return the row that a key leads to from the row of `target`; undefined if none. */
export function rowAtKey(key: string, target: EventTarget, count: number): number | undefined {
  const row = (target as Element).closest<HTMLElement>('[data-index]');
  return row === null ? undefined : KEYS[key]?.(Number(row.dataset.index), count);
}
