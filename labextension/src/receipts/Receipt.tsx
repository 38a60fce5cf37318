/** The receipt under a cell: one line that opens to all measurements. */

import { useId, useState, type ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import { figuresOf, messagesOf } from '../record/head';
import type { IRecord, Unreadable } from '../record/record';
import { NotesCount } from './NotesCount';
import { Outcome } from './Outcome';
import type { IOpenReceipt } from '../record/openreceipt';
import { Notes } from './Notes';
import { ReceiptDetails } from './ReceiptDetails';
import { Runs } from './Runs';
import { Strip } from './Strip';
import { Caret } from './icons';
import type { ILineFinder } from './providers';

export function Receipt(props: {
  record: IRecord | Unreadable;
  /** True if it is open from the start. */
  open: boolean;
  /** Requests the open receipt; resolves with null if nobody can make it. */
  ask: () => Promise<IOpenReceipt | null>;
  /** The receipt as plain text, from the notebook. */
  plain?: string;
  /** Returns the finder of its lines of code when it is opened; without it they are only named. */
  finder?: () => ILineFinder | null;
  /** Returns the function that opens the page of its cell; null if there is none. */
  pageOf?: (record: IRecord) => (() => void) | null;
  t: Translate;
}): ReactElement {
  const { record, open, ask, plain = '', finder = nowhere, pageOf = nowhere, t } = props;
  if (typeof record === 'string') {
    return (
      <p className="jp-mlgpu-Receipt jp-mlgpu-Quiet">
        {t(record === 'newer' ? 'newerRecord' : 'invalidRecord')}
      </p>
    );
  }
  return <KnownReceipt record={record} initially={open} {...{ ask, plain, finder, pageOf, t }} />;
}

const nowhere = (): null => null;

function KnownReceipt(props: {
  record: IRecord;
  initially: boolean;
  ask: () => Promise<IOpenReceipt | null>;
  plain: string;
  finder: () => ILineFinder | null;
  pageOf: (record: IRecord) => (() => void) | null;
  t: Translate;
}): ReactElement {
  const { record, initially, ask, plain, finder, pageOf, t } = props;
  const onPage = pageOf(record);
  const [open, setOpen] = useState(initially);
  const details = useId();
  const { folded } = record.head;
  const label = t.say(record.head.label);
  const figures = figuresOf(record, t);
  // Screen readers read one whole sentence. On screen, what does not fit wraps out of sight.
  const visible = folded && !open ? [t('foldedReceipt')] : figures;
  const name = [label || t(record.outcome), ...figures, messagesOf(record, t)]
    .filter(Boolean)
    .join(', ');
  return (
    <div className="jp-mlgpu-Receipt">
      <button
        type="button"
        className="jp-mlgpu-Receipt-line"
        aria-label={name}
        aria-expanded={open}
        aria-controls={details}
        onClick={() => setOpen(!open)}
      >
        <Caret open={open} />
        <Outcome outcome={record.outcome} t={t} />
        {label && <span className="jp-mlgpu-Label">{label}</span>}
        <span className="jp-mlgpu-Receipt-figures">
          {visible.map((figure, index) => (
            <span key={index}>{index === 0 ? figure : ` · ${figure}`}</span>
          ))}
        </span>
        <NotesCount record={record} t={t} />
      </button>
      {!folded && <Strip record={record} onPage={onPage} t={t} />}
      <Runs record={record} t={t} />
      <Notes record={record} t={t} />
      <div id={details} hidden={!open}>
        {open && <ReceiptDetails {...{ record, ask, plain, onPage, t }} finder={finder()} />}
      </div>
    </div>
  );
}
