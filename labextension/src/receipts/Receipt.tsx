/** The receipt under a cell: one line that opens to all that was measured. */

import { useId, useState } from 'react';
import type { ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import type { IRecord, Unreadable } from '../record/record';
import { labels, line, longestTime } from '../record/words';
import { LogNotes } from './LogNotes';
import { NotesCount } from './NotesCount';
import { Outcome } from './Outcome';
import { Notes, RecordDetails } from './RecordDetails';
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
  const said = labels(record, t);
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
        {said && <span className="jp-mlgpu-Label">{said}</span>}
        <span>
          {line(record, t)}
          <NotesCount record={record} t={t} />
        </span>
      </button>
      <Notes record={record} t={t} />
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
