/** The page of one record: receipt, operations, timeline, and memory. */

import { useEffect, useId, useMemo, useRef, type ReactElement, type ReactNode } from 'react';

import type { Message, Translate } from '../../language/i18n';
import type { IRecord } from '../../record/record';
import { figuresOf } from '../../record/head';
import { known } from '../../record/words';
import type { ICellPage } from '../CellPage';
import { Notes } from '../../receipts/Notes';
import { NotesCount } from '../../receipts/NotesCount';
import { OpenReceipt } from '../../receipts/OpenReceipt';
import { Outcome } from '../../receipts/Outcome';
import { runsByCell, trendOf } from '../../record/cellrows';
import { shownEntries } from '../../kernel/state';
import { Trend } from '../Trend';
import { Strip } from '../../receipts/Strip';
import { Actions } from './Actions';
import { MemorySection } from './MemorySection';
import { OperationsSection } from './OperationsSection';
import { TimelineSection } from './TimelineSection';
import { useOpenReceipt } from './useOpenReceipt';
import { useRecordPage } from './useRecordPage';
import { GoToCell } from '../../receipts/controls';

export function Page(props: ICellPage): ReactElement {
  const { entry, session, onBack, onGo, onLogs, t } = props;
  const { record } = entry;
  const page = useRecordPage(session, entry);
  const back = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // The button that opened the page has gone. Focus elsewhere is left alone.
    if (document.activeElement === document.body) {
      back.current?.focus();
    }
  }, []);
  const receipt = useOpenReceipt(session, entry, page);
  const { state } = session.model;
  const trend = useMemo(() => trendOf(record, runsByCell(shownEntries(state))), [record, state]);
  return (
    <section className="jp-mlgpu-Page" aria-label={t('details')}>
      <div className="jp-mlgpu-Page-head">
        <button ref={back} type="button" className="jp-mlgpu-TextButton" onClick={onBack}>
          {t('backToCells')}
        </button>
        <GoToCell cell={record.cell} onGo={() => onGo(entry)} t={t} />
      </div>
      <Summary record={record} t={t} />
      {trend && <Trend trend={trend} t={t} />}
      <Actions
        entry={entry}
        session={session}
        openReceipt={typeof receipt === 'string' ? null : receipt}
        t={t}
      />
      {typeof receipt === 'string' ? (
        <p className="jp-mlgpu-Quiet jp-mlgpu-Late" role="status">
          {t(receipt === 'asking' ? 'kernel_asking' : 'receiptNotKnown')}
        </p>
      ) : (
        <OpenReceipt
          record={record}
          receipt={receipt}
          finder={session}
          operations={
            record.ops.length > 0 && (
              <Section heading="opsSection" t={t}>
                <OperationsSection record={record} t={t} />
              </Section>
            )
          }
          t={t}
        />
      )}
      {record.logs.length > 0 && <NotesCount record={record} onLogs={() => onLogs(entry)} t={t} />}
      <Section heading="timelineSection" t={t}>
        <TimelineSection page={page} record={record} session={session} t={t} />
      </Section>
      <Section heading="memorySection" t={t}>
        <MemorySection page={page} seconds={known(record, 'wall_time')?.value ?? null} t={t} />
      </Section>
    </section>
  );
}

/** The summary in the receipt. */
function Summary(props: { record: IRecord; t: Translate }): ReactElement {
  const { record, t } = props;
  const label = t.say(record.head.label);
  return (
    <div className="jp-mlgpu-Page-summary">
      <p>
        <Outcome outcome={record.outcome} t={t} /> {figuresOf(record, t).join(' · ')}
      </p>
      {label && <p className="jp-mlgpu-Label">{label}</p>}
      <Strip record={record} t={t} />
      <Notes record={record} t={t} />
    </div>
  );
}

function Section(props: { heading: Message; t: Translate; children: ReactNode }): ReactElement {
  const id = useId();
  return (
    <section className="jp-mlgpu-Details jp-mlgpu-Page-section" aria-labelledby={id}>
      <h3 id={id}>{props.t(props.heading)}</h3>
      {props.children}
    </section>
  );
}
