/** The receipt under a cell: one line that opens to all measurements. */

import { useId, useState, type ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import { messagesOf, namedFiguresOf } from '../record/head';
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

/** Figures that stay in the narrowest window: the time, and what it was spent on. */
const ANSWER = new Set(['time', 'gpu', 'limit']);

/** Return the figures of the answer, and the others. */
function split<T>(figures: [name: string, T][]): [answer: [string, T][], others: [string, T][]] {
  return [
    figures.filter(([name]) => ANSWER.has(name)),
    figures.filter(([name]) => !ANSWER.has(name))
  ];
}

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
  const figures = namedFiguresOf(record, t);
  // Screen readers read one whole sentence. On screen, what does not fit wraps out of sight.
  const visible: typeof figures = folded && !open ? [['time', t('foldedReceipt')]] : figures;
  const [answer, rest] = split(visible);
  const doubt = t.say(record.head.doubt);
  const [first, others] = split(figures);
  const name = [
    label || t(record.outcome),
    ...first.map(([, figure]) => figure),
    messagesOf(record, t),
    ...others.map(([, figure]) => figure)
  ]
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
        <span className="jp-mlgpu-Receipt-answer">
          {answer.map(([name, figure], index) => (
            <span
              key={name}
              className={name === 'limit' && doubt !== '' ? 'jp-mlgpu-Receipt-unsure' : undefined}
              title={name === 'limit' && doubt !== '' ? doubt : undefined}
            >
              {index === 0 ? figure : ` · ${figure}`}
            </span>
          ))}
        </span>
        <span className="jp-mlgpu-Receipt-rest">
          <NotesCount record={record} t={t} />
          {rest.map(([name, figure]) => (
            <span key={name}>{` · ${figure}`}</span>
          ))}
        </span>
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
