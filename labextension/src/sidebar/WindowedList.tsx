/**
 * A list with only its visible rows in the page, so that 100,000 rows do not block it. Arrow keys, Home and
 * End move through it; Tab stops at one row only.
 */

import { memo, useLayoutEffect, useState } from 'react';
import type { KeyboardEvent, ReactElement, ReactNode } from 'react';

import { rowAtKey, useWindow } from './useWindow';

export function WindowedList(props: {
  count: number;
  keyOf: (index: number) => string | undefined;
  /** Estimated height of a row in pixels. */
  estimate: number;
  /** True if all rows have the same height. */
  alike?: boolean;
  /** Label of the button that leads back to the followed end. */
  toEnd?: string;
  /**
   * Side at which new rows appear. With `first` the read row keeps its position; with `last` the end is
   * followed.
   */
  newest: 'first' | 'last';
  row: (index: number, tabStop: boolean) => ReactNode;
  /** Returns true for a row that is a heading and no item. */
  isHeading?: (index: number) => boolean;
  /** Key of the row that gets the focus when the list appears; null to leave the focus. */
  focus?: string | null;
  label?: string;
  /** Content after the last row. */
  children?: ReactNode;
}): ReactElement {
  const { count, keyOf, estimate, alike, newest, row, isHeading, focus = null } = props;
  const { label, children } = props;
  const [active, setActive] = useState<string | null>(null);
  const follows = newest === 'last';
  const { rows, range, scroller, away } = useWindow(count, keyOf, estimate, follows, alike);
  const onKeyDown = (event: KeyboardEvent): void => {
    const target = rowAtKey(event.key, event.target, count);
    if (target !== undefined) {
      event.preventDefault();
      scroller.goTo(target, 'auto');
    }
  };

  const [wanted] = useState(focus);
  useLayoutEffect(() => {
    for (let index = 0; wanted !== null && index < count; index++) {
      if (keyOf(index) === wanted) {
        scroller.goTo(index, 'center');
        return;
      }
    }
    // Once, when the list appears.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);

  const items: { index: number; key: string }[] = [];
  for (let index = range.first; index < range.end; index++) {
    items.push({ index, key: keyOf(index) ?? String(index) });
  }
  // Tab stops at the row used last, or else at the first one drawn.
  const tabStop = items.find(({ key }) => key === active)?.key ?? items[0]?.key;
  return (
    <>
      <div {...scroller.props} className="jp-mlgpu-Scroller">
        <ul
          role="list"
          aria-label={label}
          className={alike ? 'jp-mlgpu-Alike' : undefined}
          style={{ height: rows.total }}
          onKeyDown={onKeyDown}
        >
          {items.map(({ index, key }) => (
            <li
              key={key}
              data-index={index}
              className={isHeading?.(index) ? 'jp-mlgpu-HeadingRow' : 'jp-mlgpu-Row'}
              aria-posinset={index + 1}
              aria-setsize={count}
              style={{ transform: `translateY(${rows.start(index)}px)` }}
              onFocus={() => setActive(key)}
            >
              <Row row={row} index={index} tabStop={key === tabStop} />
            </li>
          ))}
        </ul>
        {children}
      </div>
      {away && props.toEnd !== undefined && (
        <button
          type="button"
          className="jp-mlgpu-ToEnd"
          onClick={() => scroller.goTo(count - 1, 'auto')}
        >
          {props.toEnd}
        </button>
      )}
    </>
  );
}

/** A row, memoized, so that measuring and scrolling do not redraw it. */
const Row = memo(function Row(props: {
  row: (index: number, tabStop: boolean) => ReactNode;
  index: number;
  tabStop: boolean;
}): ReactElement {
  return <>{props.row(props.index, props.tabStop)}</>;
});
