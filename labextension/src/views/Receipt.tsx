/** The receipt under a cell: one line that opens to all that was measured. */

import { useId, useState } from 'react';
import type { ReactElement } from 'react';

import type { Translate } from '../i18n';
import type { IRecord, Unreadable } from '../record';
import { line, longestTime } from '../words';
import { LogNotes } from './LogNotes';
import { NotesCount } from './NotesCount';
import { Outcome } from './Outcome';
import { RecordDetails } from './RecordDetails';
import { TimeBars } from './TimeBars';
import { Caret } from './icons';

export function Receipt(props: {
  record: IRecord | Unreadable;
  /** Open from the start. */
  open: boolean;
  t: Translate;
}): ReactElement {
  const { record, open, t } = props;
  if (typeof record === 'string') {
    return (
      <p className="jp-mlgpu-Receipt jp-mlgpu-Quiet">
        {t(record === 'newer' ? 'newerRecord' : 'invalidRecord')}
      </p>
    );
  }
  return <KnownReceipt record={record} initially={open} t={t} />;
}

function KnownReceipt(props: { record: IRecord; initially: boolean; t: Translate }): ReactElement {
  const { record, initially, t } = props;
  const [open, setOpen] = useState(initially);
  const details = useId();
  const labels = [
    record.origin === 'live' ? '' : t(record.origin),
    record.outcome === 'ok' ? '' : t(record.outcome),
    record.mode === 'profiled' ? t('profiled') : ''
  ].filter(Boolean);
  return (
    <div className="jp-mlgpu-Receipt">
      <button
        type="button"
        className="jp-mlgpu-Receipt-line"
        aria-expanded={open}
        aria-controls={details}
        onClick={() => setOpen(!open)}
      >
        <Caret open={open} />
        <Outcome outcome={record.outcome} t={t} />
        {labels.length > 0 && <span className="jp-mlgpu-Label">{labels.join(' · ')}</span>}
        <span>
          {line(record, t)}
          <NotesCount record={record} t={t}>
            {words => words}
          </NotesCount>
        </span>
      </button>
      {record.notes.map((note, index) => (
        <p key={index} className="jp-mlgpu-Note">
          {t.say(note)}
        </p>
      ))}
      <div id={details} hidden={!open}>
        {open && (
          <>
            <LogNotes record={record} t={t} />
            <TimeBars record={record} scale={longestTime(record)} t={t} />
            <RecordDetails record={record} t={t} />
          </>
        )}
      </div>
    </div>
  );
}
