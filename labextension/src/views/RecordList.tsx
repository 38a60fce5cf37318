/** The records, newest first; only the rows in sight are in the page, so 20,000 do not block it. */

import { useVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { KeyboardEvent, ReactElement } from 'react';

import { formatSeconds } from '../format';
import type { Message, Translate } from '../i18n';
import type { IEntry } from '../model';
import { longestTime } from '../words';
import { RecordRow } from './RecordRow';

/** Height of a row, in pixels, until it has been measured. */
const ROW_HEIGHT = 112;
const OVERSCAN = 5;

/** The record whose cell cannot be shown, and why. */
export interface ILost {
  key: string;
  why: Message;
}

export function RecordList(props: {
  /** Oldest first. */
  entries: readonly IEntry[];
  older: number;
  lost: ILost | null;
  onGo: (entry: IEntry) => void;
  t: Translate;
}): ReactElement {
  const { entries, older, lost, onGo, t } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [active, setActive] = useState<string | null>(null);
  const scale = useMemo(
    () => entries.reduce((longest, { record }) => Math.max(longest, longestTime(record)), 0),
    [entries]
  );
  const at = (index: number): IEntry | undefined => entries[entries.length - 1 - index];
  const rows = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    getItemKey: index => at(index)?.key ?? index,
    overscan: OVERSCAN
  });

  const toggle = (key: string): void => {
    setOpen(before => {
      const after = new Set(before);
      if (!after.delete(key)) {
        after.add(key);
      }
      return after;
    });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = (event.target as Element).closest<HTMLElement>('[data-index]');
    const target = KEYS[event.key]?.(Number(row?.dataset.index), entries.length);
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

  const newest = at(0)?.key;
  const newestBefore = useRef(newest);
  useLayoutEffect(() => {
    // What the reader looks at stays where it is when records come in above it.
    const added =
      entries.length - 1 - entries.findLastIndex(({ key }) => key === newestBefore.current);
    newestBefore.current = newest;
    if (scroller.current && scroller.current.scrollTop > 0 && added > 0 && added < entries.length) {
      scroller.current.scrollTop += rows.getOffsetForIndex(added, 'start')?.[0] ?? 0;
    }
  }, [entries, newest, rows]);

  const items = rows.getVirtualItems();
  // Tab stops at one row only: the one used last, or the first in sight.
  const tabStop = items.find(({ key }) => key === active)?.key ?? items[0]?.key;
  const saved = entries[0]?.saved === true;
  return (
    <section className="jp-mlgpu-Records" aria-label={t('records')}>
      <div className="jp-mlgpu-Records-head">
        <h3>
          {t(saved ? 'fromSaved' : 'records')}{' '}
          <span className="jp-mlgpu-Quiet">{entries.length.toLocaleString()}</span>
        </h3>
        {scale > 0 && (
          <span className="jp-mlgpu-Quiet">{t('scale', { time: formatSeconds(scale) })}</span>
        )}
      </div>
      <div ref={scroller} className="jp-mlgpu-Records-scroller">
        <ul role="list" style={{ height: rows.getTotalSize() }} onKeyDown={onKeyDown}>
          {items.map(({ index, key, start }) => {
            const entry = at(index);
            return (
              entry && (
                <li
                  key={key}
                  ref={rows.measureElement}
                  data-index={index}
                  className="jp-mlgpu-Row"
                  aria-posinset={index + 1}
                  aria-setsize={entries.length}
                  style={{ transform: `translateY(${start}px)` }}
                  onFocus={() => setActive(entry.key)}
                >
                  <RecordRow
                    entry={entry}
                    scale={scale}
                    open={open.has(entry.key)}
                    lost={lost?.key === entry.key ? lost.why : null}
                    tabStop={key === tabStop}
                    onGo={onGo}
                    onToggle={toggle}
                    t={t}
                  />
                </li>
              )
            );
          })}
        </ul>
        {older > 0 && <p className="jp-mlgpu-Quiet">{t('older', { count: String(older) })}</p>}
      </div>
    </section>
  );
}

/** From the row in focus and the number of rows to the row that a key leads to. */
const KEYS: Record<string, (row: number, rows: number) => number> = {
  ArrowDown: (row, rows) => Math.min(row + 1, rows - 1),
  ArrowUp: row => Math.max(row - 1, 0),
  Home: () => 0,
  End: (_, rows) => rows - 1
};
