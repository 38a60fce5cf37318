/**
 * A list of which only the rows in sight are in the page, so that 100,000 do not block it. Arrow keys,
 * Home and End move through it; Tab stops at one row only.
 */

import { useVirtualizer } from '@tanstack/react-virtual';
import type { VirtualItem } from '@tanstack/react-virtual';
import { useLayoutEffect, useRef, useState } from 'react';
import type { KeyboardEvent, ReactElement, ReactNode, UIEvent } from 'react';

const OVERSCAN = 5;
/** Pixels from the end within which a reader is taken to follow it. */
const AT_END = 24;

export function WindowedList(props: {
  count: number;
  keyOf: (index: number) => string | undefined;
  /** Height of a row, in pixels, until it has been measured. */
  estimate: number;
  /** What leads back to the end, for a list that is followed there; named, it stands below the list. */
  toEnd?: string;
  /** Where new rows come in: above, and what is read stays in its place; or below, and the end is followed. */
  newest: 'first' | 'last';
  row: (index: number, tabStop: boolean) => ReactNode;
  /** Of rows that are no items but stand between them, as headings do. */
  isHeading?: (index: number) => boolean;
  /** The row that has the keyboard's focus when the list appears; null: the focus stays where it is. */
  focus?: string | null;
  label?: string;
  /** What stands after the last row. */
  children?: ReactNode;
}): ReactElement {
  const { count, keyOf, estimate, newest, row, isHeading, focus = null, label, children } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<string | null>(null);
  const below = newest === 'last';
  const [away, setAway] = useState(false);
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
  const onScroll = (event: UIEvent<HTMLElement>): void => {
    // Not from the library, which hears of the scrolling only after this.
    const { scrollHeight, scrollTop, clientHeight } = event.currentTarget;
    following.current = below && scrollHeight - scrollTop - clientHeight <= AT_END;
    setAway(below && !following.current);
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    const from = (event.target as Element).closest<HTMLElement>('[data-index]');
    const target = KEYS[event.key]?.(Number(from?.dataset.index), count);
    if (target === undefined) {
      return;
    }
    event.preventDefault();
    goTo(target, 'auto');
  };
  const goTo = (target: number, align: 'auto' | 'center'): void => {
    const focus = (): boolean => {
      const next = scroller.current?.querySelector(`[data-index="${target}"] button`);
      (next as HTMLElement | null)?.focus({ preventScroll: true });
      return next !== null;
    };
    rows.scrollToIndex(target, { align });
    // At once, so that the next key is that row's; the row may have to be put into the page first.
    if (!focus()) {
      requestAnimationFrame(focus);
    }
  };

  // Rows that come in above leave what is read in its place, unless that is the top: there one sees them come.
  const read = useRef<Pick<VirtualItem, 'key' | 'start'>>();
  useLayoutEffect(() => {
    if (!following.current && scroller.current && scroller.current.scrollTop > 0 && read.current) {
      const { key, start } = read.current;
      const now = rows.measurementsCache[indexOf(String(key), count, keyOf)]?.start ?? start;
      scroller.current.scrollTop += now - start;
    }
  }, [count, keyOf, rows]);
  useLayoutEffect(() => {
    read.current = rows.getVirtualItemForOffset(scroller.current?.scrollTop ?? 0);
  });

  const [wanted] = useState(focus);
  useLayoutEffect(() => {
    const index = indexOf(wanted ?? undefined, count, keyOf);
    if (index >= 0) {
      goTo(index, 'center');
    }
    // Once, when the list appears.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
  const height = rows.getTotalSize();
  useLayoutEffect(() => {
    if (following.current) {
      rows.scrollToEnd();
    }
  }, [count, height, rows]);

  const goToEnd = (): void => {
    rows.scrollToEnd();
    // The button goes, and must not take the keyboard's focus along.
    requestAnimationFrame(() => {
      const last = scroller.current?.querySelector(`[data-index="${count - 1}"] button`);
      (last as HTMLElement | null)?.focus();
    });
  };

  const items = rows.getVirtualItems();
  // Tab stops at one row only: the one used last, or the first in sight.
  const tabStop = items.find(({ key }) => key === active)?.key ?? items[0]?.key;
  return (
    <>
      <div ref={scroller} className="jp-mlgpu-Scroller" onScroll={onScroll}>
        <ul role="list" aria-label={label} style={{ height }} onKeyDown={onKeyDown}>
          {items.map(({ index, key, start }) => (
            <li
              key={key}
              ref={rows.measureElement}
              data-index={index}
              className={isHeading?.(index) ? 'jp-mlgpu-HeadingRow' : 'jp-mlgpu-Row'}
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
      {away && props.toEnd !== undefined && (
        <button type="button" className="jp-mlgpu-ToEnd" onClick={goToEnd}>
          {props.toEnd}
        </button>
      )}
    </>
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
