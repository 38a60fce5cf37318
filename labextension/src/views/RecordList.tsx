/** The records, newest first; only the rows in sight are in the page, so 20,000 do not block it. */

import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState } from 'react';
import type { KeyboardEvent, ReactElement } from 'react';

import { formatSeconds } from '../format';
import type { Translate } from '../i18n';
import type { IEntry } from '../model';
import { longestTime } from '../words';
import { RecordRow } from './RecordRow';

/** Height of a row, in pixels, until it has been measured. */
const ROW_HEIGHT = 112;
const OVERSCAN = 5;

export function RecordList(props: {
  /** Oldest first. */
  entries: readonly IEntry[];
  older: number;
  /** Key of the record whose cell was not found. */
  lost: string | null;
  onGo: (entry: IEntry) => void;
  t: Translate;
}): ReactElement {
  const { entries, older, lost, onGo, t } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [active, setActive] = useState(0);
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
  const focusRow = (index: number): void => {
    setActive(index);
    rows.scrollToIndex(index, { align: 'auto' });
    // The row may have to be put into the page first.
    requestAnimationFrame(() => {
      const row = scroller.current?.querySelector(`[data-index="${index}"]`);
      row?.querySelector('button')?.focus();
    });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const target = KEYS[event.key]?.(active, entries.length);
    if (target !== undefined) {
      event.preventDefault();
      focusRow(target);
    }
  };

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
        <ul style={{ height: rows.getTotalSize() }} onKeyDown={onKeyDown}>
          {rows.getVirtualItems().map(({ index, key, start }) => {
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
                  onFocus={() => setActive(index)}
                >
                  <RecordRow
                    entry={entry}
                    scale={scale}
                    open={open.has(entry.key)}
                    lost={lost === entry.key}
                    tabStop={index === active}
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

/** From the active row and the number of rows to the row that a key leads to. */
const KEYS: Record<string, (active: number, rows: number) => number> = {
  ArrowDown: (active, rows) => Math.min(active + 1, rows - 1),
  ArrowUp: active => Math.max(active - 1, 0),
  Home: () => 0,
  End: (_, rows) => rows - 1
};
