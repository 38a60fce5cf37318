/** The records, newest first. */

import { useCallback, useMemo } from 'react';
import type { ReactElement } from 'react';

import { formatSeconds } from '../format';
import type { Message, Translate } from '../i18n';
import type { IEntry } from '../state';
import { longestTime } from '../words';
import { RecordRow } from './RecordRow';
import { WindowedList } from './WindowedList';

/** Height of a row, in pixels, until it has been measured. */
const ROW_HEIGHT = 112;

/** What the user asked to be shown, and why that is not possible. */
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
  onLogs: (entry: IEntry) => void;
  /** Show all that is known of it. */
  onOpen: (entry: IEntry) => void;
  t: Translate;
}): ReactElement {
  const { entries, older, lost, onGo, onLogs, onOpen, t } = props;
  const scale = useMemo(
    () => entries.reduce((longest, { record }) => Math.max(longest, longestTime(record)), 0),
    [entries]
  );
  const at = (index: number): IEntry | undefined => entries[entries.length - 1 - index];
  const keyOf = useCallback((index: number) => entries[entries.length - 1 - index]?.key, [entries]);
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
      <WindowedList
        count={entries.length}
        keyOf={keyOf}
        estimate={ROW_HEIGHT}
        newest="first"
        row={(index, tabStop) => {
          const entry = at(index);
          return (
            entry && (
              <RecordRow
                entry={entry}
                scale={scale}
                lost={lost?.key === entry.key ? lost.why : null}
                tabStop={tabStop}
                onGo={onGo}
                onLogs={onLogs}
                onOpen={onOpen}
                t={t}
              />
            )
          );
        }}
      >
        {older > 0 && <p className="jp-mlgpu-Quiet">{t('older', { count: String(older) })}</p>}
      </WindowedList>
    </section>
  );
}
