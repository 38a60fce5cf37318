/** The receipt under a cell: one line that opens to all that was measured. */

import { useId, useState } from 'react';
import type { ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import type { IRecord, Unreadable } from '../record/record';
import { labels, line, longestTime } from '../record/words';
import { HotLines } from './HotLines';
import { LimitAnswer } from './LimitAnswer';
import { LogNotes } from './LogNotes';
import { NotesCount } from './NotesCount';
import { Outcome } from './Outcome';
import { Notes, RecordDetails } from './RecordDetails';
import { TimeBars } from './TimeBars';
import { Caret } from './icons';
import type { ILineFinder } from './linedoor';

export function Receipt(props: {
  record: IRecord | Unreadable;
  /** Open from the start. */
  open: boolean;
  /** What finds its lines of code, asked when it is opened; without it they are named alone. */
  finder?: () => ILineFinder | null;
  t: Translate;
}): ReactElement {
  const { record, open, finder = nowhere, t } = props;
  if (typeof record === 'string') {
    return (
      <p className="jp-mlgpu-Receipt jp-mlgpu-Quiet">
        {t(record === 'newer' ? 'newerRecord' : 'invalidRecord')}
      </p>
    );
  }
  return <KnownReceipt record={record} initially={open} finder={finder} t={t} />;
}

const nowhere = (): null => null;

function KnownReceipt(props: {
  record: IRecord;
  initially: boolean;
  finder: () => ILineFinder | null;
  t: Translate;
}): ReactElement {
  const { record, initially, finder, t } = props;
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
            <LimitAnswer record={record} t={t} />
            <HotLines record={record} finder={finder()} t={t} />
            <LogNotes record={record} t={t} />
            <TimeBars record={record} scale={longestTime(record)} t={t} />
            <RecordDetails record={record} t={t} />
          </>
        )}
      </div>
    </div>
  );
}
