/** All that is known of one cell: what its receipt says, where it ran, what it did inside, and how that is known. */

import { useEffect, useId, useRef } from 'react';
import type { ReactElement, ReactNode } from 'react';

import type { Message, Translate } from '../../i18n';
import type { IRecord } from '../../record';
import { known, line, longestTime, place } from '../../words';
import type { ICellPage } from '../CellPage';
import { LogNotes } from '../LogNotes';
import { NotesCount } from '../NotesCount';
import { Outcome } from '../Outcome';
import { About, Devices, Facts, ReadingRow, Readings } from '../RecordDetails';
import { CellName } from '../RunningCell';
import { TimeBars } from '../TimeBars';
import { Actions } from './Actions';
import { MemorySection } from './MemorySection';
import { OperationsSection } from './OperationsSection';
import { TimelineSection } from './TimelineSection';
import { useInside } from './useInside';

export function Page(props: ICellPage): ReactElement {
  const { entry, session, onBack, onGo, onLogs, t } = props;
  const { record } = entry;
  const inside = useInside(session, entry);
  const back = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // The button that opened the page went with its row; a keyboard that is elsewhere is left there.
    if (document.activeElement === document.body) {
      back.current?.focus();
    }
  }, []);
  const measured = record.readings.filter(({ value }) => value !== null);
  const missing = record.readings.filter(({ value }) => value === null);
  const timeline =
    inside.state === 'told' && typeof inside.told.timeline === 'object'
      ? inside.told.timeline
      : null;
  return (
    <section className="jp-mlgpu-Page" aria-label={t('details')}>
      <div className="jp-mlgpu-Page-head">
        <button ref={back} type="button" className="jp-mlgpu-TextButton" onClick={onBack}>
          {t('backToCells')}
        </button>
        <button
          type="button"
          className="jp-mlgpu-Go"
          title={t('goToCell')}
          onClick={() => onGo(entry)}
        >
          <CellName cell={record.cell} />
        </button>
      </div>
      <Summary record={record} t={t} />
      <Actions entry={entry} session={session} traced={timeline !== null} t={t} />
      {(record.ranOn !== null || record.whyDeviceMissing !== null) && (
        <Section heading="whereItRan" t={t}>
          {place(record, t) && <p>{place(record, t)}</p>}
          {record.ranOn !== null && record.ranOn.length > 0 && (
            <Devices devices={record.ranOn} t={t} />
          )}
          {record.whyDeviceMissing && <p className="jp-mlgpu-Quiet">{record.whyDeviceMissing}</p>}
        </Section>
      )}
      {record.logs.length > 0 && (
        <Section heading="logNotes" t={t}>
          <LogNotes record={record} t={t} />
          <NotesCount record={record} t={t}>
            {words => (
              <button
                type="button"
                className="jp-mlgpu-TextButton"
                title={t('showLogs')}
                onClick={() => onLogs(entry)}
              >
                {words}
              </button>
            )}
          </NotesCount>
        </Section>
      )}
      {record.ops.length > 0 && (
        <Section heading="opsSection" t={t}>
          <OperationsSection record={record} t={t} />
        </Section>
      )}
      <Section heading="timelineSection" t={t}>
        <TimelineSection inside={inside} t={t} />
      </Section>
      <Section heading="memorySection" t={t}>
        <MemorySection inside={inside} seconds={known(record, 'wall_time')?.value ?? null} t={t} />
      </Section>
      <Section heading="howMeasured" t={t}>
        <Readings readings={measured} record={record} t={t} />
      </Section>
      {missing.length > 0 && (
        <Section heading="notMeasuredSection" t={t}>
          <table aria-label={t('notMeasuredSection')}>
            <tbody>
              {missing.map((reading, index) => (
                <ReadingRow key={index} reading={reading} record={record} t={t} />
              ))}
            </tbody>
          </table>
        </Section>
      )}
      <Section heading="insideElse" t={t}>
        {record.facts.length > 0 && <Facts facts={record.facts} t={t} />}
        <About record={record} t={t} />
      </Section>
    </section>
  );
}

/** What the receipt says. */
function Summary(props: { record: IRecord; t: Translate }): ReactElement {
  const { record, t } = props;
  const labels = [
    record.origin === 'live' ? '' : t(record.origin),
    record.outcome === 'ok' ? '' : t(record.outcome),
    record.mode === 'profiled' ? t('profiled') : ''
  ].filter(Boolean);
  return (
    <div className="jp-mlgpu-Page-summary">
      <p>
        <Outcome outcome={record.outcome} t={t} /> {line(record, t)}
      </p>
      {labels.length > 0 && <p className="jp-mlgpu-Label">{labels.join(' · ')}</p>}
      <TimeBars record={record} scale={longestTime(record)} t={t} />
      {record.notes.map((note, index) => (
        <p key={index} className="jp-mlgpu-Note">
          {t.say(note)}
        </p>
      ))}
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
