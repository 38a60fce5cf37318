/**
 * A list of which only the rows in sight are in the page, so that 100,000 do not block it. Arrow keys,
 * Home and End move through it; Tab stops at one row only.
 */

import { useVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useRef, useState } from 'react';
import type { KeyboardEvent, ReactElement, ReactNode } from 'react';

const OVERSCAN = 5;
/** Pixels from the end within which a reader is taken to follow it. */
const AT_END = 24;

export function WindowedList(props: {
  count: number;
  keyOf: (index: number) => string | undefined;
  /** Height of a row, in pixels, until it has been measured. */
  estimate: number;
  /** Where new rows come in: above, and what is read stays in its place; or below, and the end is followed. */
  newest: 'first' | 'last';
  row: (index: number, tabStop: boolean) => ReactNode;
  label?: string;
  /** What stands after the last row. */
  children?: ReactNode;
}): ReactElement {
  const { count, keyOf, estimate, newest, row, label, children } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<string | null>(null);
  const below = newest === 'last';
  const rows = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimate,
    getItemKey: index => keyOf(index) ?? index,
    overscan: OVERSCAN,
    // Rows at the other end would be drawn and measured first.
    initialOffset: below ? count * estimate : 0
  });
  // The library's own way to follow the end adds all rows up for each one that it measures.
  const following = useRef(below);
  const onScroll = (): void => {
    following.current = below && rows.isAtEnd(AT_END);
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    const from = (event.target as Element).closest<HTMLElement>('[data-index]');
    const target = KEYS[event.key]?.(Number(from?.dataset.index), count);
    if (target === undefined) {
      return;
    }
    event.preventDefault();
    rows.scrollToIndex(target, { align: 'auto' });
    // The row may have to be put into the page first.
    requestAnimationFrame(() => {
      const next = scroller.current?.querySelector(`[data-index="${target}"]`);
      next?.querySelector('button')?.focus();
    });
  };

  const first = keyOf(0);
  const firstBefore = useRef(first);
  useLayoutEffect(() => {
    const added = indexOf(firstBefore.current, count, keyOf);
    firstBefore.current = first;
    if (!following.current && scroller.current && scroller.current.scrollTop > 0 && added > 0) {
      scroller.current.scrollTop += rows.getOffsetForIndex(added, 'start')?.[0] ?? 0;
    }
  }, [count, first, keyOf, rows]);
  const height = rows.getTotalSize();
  useLayoutEffect(() => {
    if (following.current) {
      rows.scrollToEnd();
    }
  }, [count, height, rows]);

  const items = rows.getVirtualItems();
  // Tab stops at one row only: the one used last, or the first in sight.
  const tabStop = items.find(({ key }) => key === active)?.key ?? items[0]?.key;
  return (
    <div ref={scroller} className="jp-mlgpu-Scroller" onScroll={onScroll}>
      <ul role="list" aria-label={label} style={{ height }} onKeyDown={onKeyDown}>
        {items.map(({ index, key, start }) => (
          <li
            key={key}
            ref={rows.measureElement}
            data-index={index}
            className="jp-mlgpu-Row"
            aria-posinset={index + 1}
            aria-setsize={count}
            style={{ transform: `translateY(${start}px)` }}
            onFocus={() => setActive(String(key))}
          >
            {row(index, key === tabStop)}
          </li>
        ))}
      </ul>
      {children}
    </div>
  );
}

/** Where a row stands; -1 where it is no more. */
function indexOf(
  key: string | undefined,
  count: number,
  keyOf: (index: number) => string | undefined
): number {
  for (let index = 0; key !== undefined && index < count; index++) {
    if (keyOf(index) === key) {
      return index;
    }
  }
  return -1;
}

/** From the row in focus and the number of rows to the row that a key leads to. */
const KEYS: Record<string, (row: number, rows: number) => number> = {
  ArrowDown: (row, rows) => Math.min(row + 1, rows - 1),
  ArrowUp: row => Math.max(row - 1, 0),
  Home: () => 0,
  End: (_, rows) => rows - 1
};
