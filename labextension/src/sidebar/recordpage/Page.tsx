/** All that is known of one cell: what its receipt says, where it ran, what it did inside, and how that is known. */

import { useEffect, useId, useMemo, useRef } from 'react';
import type { ReactElement, ReactNode } from 'react';

import type { Message, Translate } from '../../language/i18n';
import { PageView } from '../../page/PageView';
import { readPage } from '../../page/page';
import type { IRecord } from '../../record/record';
import { figureNamed, figuresOf } from '../../record/head';
import { known } from '../../record/words';
import type { ICellPage } from '../CellPage';
import { HotLines } from '../../receipts/HotLines';
import { LimitAnswer } from '../../receipts/LimitAnswer';
import { LogNotes } from '../../receipts/LogNotes';
import { NotesCount } from '../../receipts/NotesCount';
import { Outcome } from '../../receipts/Outcome';
import { runsByCell, trendOf } from '../../record/cellrows';
import { shownEntries } from '../../kernel/state';
import { Trend } from '../Trend';
import {
  About,
  Devices,
  Facts,
  NotMeasured,
  Notes,
  Readings,
  Times,
  countMissing
} from '../../receipts/RecordDetails';
import { Strip } from '../../receipts/Strip';
import { Actions } from './Actions';
import { MemorySection } from './MemorySection';
import { OperationsSection } from './OperationsSection';
import { TimelineSection } from './TimelineSection';
import { useRecordPage } from './useRecordPage';
import { GoToCell } from '../../receipts/controls';
import { Prose } from '../../receipts/Prose';

export function Page(props: ICellPage): ReactElement {
  const { entry, session, onBack, onGo, onLogs, t } = props;
  const { record } = entry;
  const page = useRecordPage(session, entry);
  const back = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // The button that opened the page went with its row; a keyboard that is elsewhere is left there.
    if (document.activeElement === document.body) {
      back.current?.focus();
    }
  }, []);
  const place = figureNamed('where', record, t);
  const measured = record.readings.filter(({ value }) => value !== null);
  const { state } = session.model;
  const trend = useMemo(() => trendOf(record, runsByCell(shownEntries(state))), [record, state]);
  const timeline =
    page.state === 'answered' && typeof page.details.timeline === 'object'
      ? page.details.timeline
      : null;
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
      <LimitAnswer record={record} t={t} />
      <HotLines record={record} finder={session} t={t} />
      <Actions entry={entry} session={session} traced={timeline !== null} t={t} />
      {(record.ranOn !== null || record.whyDeviceMissing !== null) && (
        <Section heading="whereItRan" t={t}>
          {place && <p>{place}</p>}
          {record.ranOn !== null && record.ranOn.length > 0 && (
            <Devices devices={record.ranOn} t={t} />
          )}
          {record.whyDeviceMissing && (
            <p className="jp-mlgpu-Quiet">
              <Prose text={t.say(record.whyDeviceMissing)} />
            </p>
          )}
        </Section>
      )}
      {record.logs.length > 0 && (
        <Section heading="logs" t={t}>
          <LogNotes record={record} t={t} />
          <NotesCount record={record} onLogs={() => onLogs(entry)} t={t} />
        </Section>
      )}
      {page.state === 'answered' && <Roof data={page.details.roof} t={t} />}
      {record.ops.length > 0 && (
        <Section heading="opsSection" t={t}>
          <OperationsSection record={record} t={t} />
        </Section>
      )}
      <Section heading="timelineSection" t={t}>
        <TimelineSection page={page} t={t} />
      </Section>
      <Section heading="memorySection" t={t}>
        <MemorySection page={page} seconds={known(record, 'wall_time')?.value ?? null} t={t} />
      </Section>
      <Section heading="howMeasured" t={t}>
        <Readings readings={measured} record={record} t={t} />
      </Section>
      {countMissing(record) > 0 && (
        <Section heading="notMeasuredSection" t={t}>
          <NotMeasured record={record} t={t} />
        </Section>
      )}
      <Section heading="insideElse" t={t}>
        {record.facts.length > 0 && <Facts facts={record.facts} t={t} />}
        <About record={record} t={t} />
      </Section>
    </section>
  );
}

/** Where the cell stands under its machine's roof: a chart and its table. */
function Roof(props: { data: unknown; t: Translate }): ReactElement | null {
  const page = useMemo(
    () => (props.data === null ? 'invalid' : readPage(props.data)),
    [props.data]
  );
  return typeof page === 'string' ? null : <PageView page={page} t={props.t} />;
}

/** What the receipt says. */
function Summary(props: { record: IRecord; t: Translate }): ReactElement {
  const { record, t } = props;
  const said = t.say(record.head.label);
  return (
    <div className="jp-mlgpu-Page-summary">
      <p>
        <Outcome outcome={record.outcome} t={t} /> {figuresOf(record, t).join(' · ')}
      </p>
      {said && <p className="jp-mlgpu-Label">{said}</p>}
      <Strip record={record} t={t} />
      <Times record={record} t={t} />
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
