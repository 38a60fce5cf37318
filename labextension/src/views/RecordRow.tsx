/** One record in the list: its cell, how it ended, its times, where it ran; leads to all that is known of it. */

import { caretRightIcon } from '@jupyterlab/ui-components';
import type { ReactElement } from 'react';

import type { Message, Translate } from '../i18n';
import type { IEntry } from '../state';
import type { IRecord } from '../record';
import { peakMemory, place } from '../words';
import { NotesCount } from './NotesCount';
import { Outcome } from './Outcome';
import { CellName } from './RunningCell';
import { TimeBars } from './TimeBars';

export interface IRowActions {
  onGo: (entry: IEntry) => void;
  /** Show its lines among the logs. */
  onLogs: (entry: IEntry) => void;
  /** Show all that is known of it. */
  onOpen: (entry: IEntry) => void;
}

export function RecordRow(
  props: IRowActions & {
    entry: IEntry;
    /** Seconds that fill a bar. */
    scale: number;
    /** Why its cell cannot be shown, when the user asked for it. */
    lost: Message | null;
    /** Whether the keyboard's Tab stops here; arrows reach the other rows. */
    tabStop: boolean;
    t: Translate;
  }
): ReactElement {
  const { entry, scale, lost, tabStop, onGo, onLogs, onOpen, t } = props;
  const { record } = entry;
  const tabIndex = tabStop ? 0 : -1;
  const facts = [place(record, t), peakMemory(record, t)].filter(Boolean).join(' · ');
  return (
    <>
      <div className="jp-mlgpu-Row-head">
        <button
          type="button"
          className="jp-mlgpu-Go"
          title={t('goToCell')}
          tabIndex={tabIndex}
          onClick={() => onGo(entry)}
        >
          <CellName cell={record.cell} />
        </button>
        <Outcome outcome={record.outcome} t={t} />
        <button
          type="button"
          className="jp-mlgpu-Toggle"
          aria-label={t('details')}
          title={t('showDetails')}
          tabIndex={tabIndex}
          onClick={() => onOpen(entry)}
        >
          <caretRightIcon.react tag="span" />
        </button>
      </div>
      <Labels record={record} t={t} />
      <TimeBars record={record} scale={scale} t={t} />
      {facts && <p className="jp-mlgpu-Facts">{facts}</p>}
      <NotesCount record={record} t={t}>
        {words => (
          <button
            type="button"
            className="jp-mlgpu-TextButton"
            title={t('showLogs')}
            tabIndex={tabIndex}
            onClick={() => onLogs(entry)}
          >
            {words}
          </button>
        )}
      </NotesCount>
      {record.notes.map((note, index) => (
        <p key={index} className="jp-mlgpu-Note">
          {note}
        </p>
      ))}
      {lost !== null && <p className="jp-mlgpu-Note">{t(lost)}</p>}
    </>
  );
}

function Labels(props: { record: IRecord; t: Translate }): ReactElement | null {
  const { record, t } = props;
  const labels = [
    record.origin === 'live' ? '' : t(record.origin),
    record.mode === 'profiled' ? t('profiled') : ''
  ].filter(Boolean);
  return labels.length > 0 ? <p className="jp-mlgpu-Label">{labels.join(' · ')}</p> : null;
}
