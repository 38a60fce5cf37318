/**
 * All that a record holds, what is wanted first: times as bars, what limits the cell, where it ran, operations, messages
 * to act on; folded how all was measured, and what was not.
 */

import type { ReactElement } from 'react';

import { dotted, formatShare } from '../record/format';
import type { Message, Translate } from '../language/i18n';
import { cutInWords, isToActOn } from '../record/notes';
import type { Evidence, IFact, IRanOn, IReading, IRecord } from '../record/record';
import { origin, withUncertainty } from '../record/recordtext';
import { lanesOf } from '../record/strip';
import {
  factName,
  frameworkName,
  longestTime,
  quantityName,
  times,
  versionsInWords,
  whyMissing
} from '../record/words';
import { Button } from './controls';
import { Fold } from './Fold';
import { GpuWork } from './GpuWork';
import { HotLines } from './HotLines';
import { LimitAnswer } from './LimitAnswer';
import { LogNotes } from './LogNotes';
import { Operations } from './Operations';
import { Prose } from './Prose';
import { Table } from './Table';
import { StripLegend } from './Strip';
import { TimeBars } from './TimeBars';
import type { ILineFinder } from './linedoor';

const EVIDENCE: Record<Evidence, Message> = {
  counted: 'evidenceCounted',
  'only device': 'evidenceOnly',
  allocator: 'evidenceAllocator',
  results: 'evidenceResults',
  driver: 'evidenceDriver'
};

export function RecordDetails(props: {
  record: IRecord;
  /** Finds its lines of code in the notebook; null where there is none. */
  finder: ILineFinder | null;
  /** Opens the page of its cell; null: nothing does. */
  onPage: (() => void) | null;
  t: Translate;
}): ReactElement {
  const { record, finder, onPage, t } = props;
  const toActOn = record.logs.filter(({ verdict }) => isToActOn(verdict));
  const others = record.logs.filter(({ verdict }) => !isToActOn(verdict));
  const counted = { count: others.length };
  const missing = countMissing(record);
  return (
    <>
      <Times record={record} t={t} />
      {onPage !== null && lanesOf(record).length > 0 && (
        <Button label={t('stripLarger')} onClick={onPage} />
      )}
      <LimitAnswer record={record} t={t} />
      <HotLines record={record} finder={finder} t={t} />
      <div className="jp-mlgpu-Details">
        <WhereItRan record={record} t={t} />
        <GpuWork works={record.gpuWork} t={t} />
        <Operations record={record} t={t} />
      </div>
      <LogNotes record={record} lines={toActOn} t={t} />
      {others.length > 0 && (
        <Fold label={t(toActOn.length > 0 ? 'otherMessageCount' : 'messageCount', counted)}>
          {() => <LogNotes record={record} lines={others} t={t} />}
        </Fold>
      )}
      <Fold label={t('howItWasMeasured')}>
        {() => (
          <div className="jp-mlgpu-Details">
            <Readings readings={record.readings.filter(isMeasured)} record={record} t={t} />
            {record.facts.length > 0 && <Facts facts={record.facts} t={t} />}
            <About record={record} t={t} />
          </div>
        )}
      </Fold>
      {missing > 0 && (
        <Fold label={t('notMeasuredCount', { count: missing })}>
          {() => (
            <div className="jp-mlgpu-Details">
              <NotMeasured record={record} t={t} />
            </div>
          )}
        </Fold>
      )}
    </>
  );
}

/** The strip's legend, or bars where no lane of it is known; one bar alone would be a bar of nothing. */
export function Times(props: { record: IRecord; t: Translate }): ReactElement | null {
  const { record, t } = props;
  const lanes = lanesOf(record);
  if (lanes.length > 0) {
    return <StripLegend record={record} lanes={lanes} t={t} />;
  }
  const bars = times(record).length > 1;
  return bars ? <TimeBars record={record} scale={longestTime(record)} t={t} /> : null;
}

function isMeasured({ value }: IReading): boolean {
  return value !== null;
}

function WhereItRan(props: { record: IRecord; t: Translate }): ReactElement {
  const { ranOn, whyDeviceMissing } = props.record;
  const { t } = props;
  return (
    <>
      {ranOn !== null && ranOn.length > 0 && <Devices devices={ranOn} t={t} />}
      {whyDeviceMissing && (
        <dl>
          <Term name={t('device')} text={t.say(whyDeviceMissing)} />
        </dl>
      )}
    </>
  );
}

/** How many things of a record are not known. */
export function countMissing({ readings, limit, whyNoLimit }: IRecord): number {
  const unlimited = limit === null && whyNoLimit !== null ? 1 : 0;
  return readings.filter(reading => !isMeasured(reading)).length + unlimited;
}

/** These, a row each with the reason. */
export function NotMeasured(props: { record: IRecord; t: Translate }): ReactElement {
  const { record, t } = props;
  const unlimited = record.limit === null ? record.whyNoLimit : null;
  return (
    <table aria-label={t('notMeasuredSection')}>
      <tbody>
        {record.readings.map(
          (reading, index) =>
            !isMeasured(reading) && (
              <ReadingRow key={index} reading={reading} record={record} t={t} />
            )
        )}
        {unlimited !== null && (
          <tr>
            <th scope="row">{t('limit')}</th>
            <td className="jp-mlgpu-Quiet">{t('limitNotKnown', { why: t.say(unlimited) })}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

/** What the kernel says of the record besides its figures. */
export function Notes(props: { record: IRecord; t: Translate }): ReactElement {
  return (
    <>
      {props.record.notes.map((note, index) => (
        <p key={index} className="jp-mlgpu-Note">
          <Prose text={props.t.say(note)} />
        </p>
      ))}
    </>
  );
}

/** When it ran, with what, and what was left out of the record. */
export function About(props: { record: IRecord; t: Translate }): ReactElement {
  const { record, t } = props;
  const started = new Date(record.startedAt);
  return (
    <>
      <dl>
        {!Number.isNaN(started.getTime()) && (
          <Term name={t('started')} text={started.toLocaleString()} />
        )}
        {record.notebook && <Term name={t('notebook')} text={record.notebook} />}
        {record.versions.length > 0 && (
          <Term name={t('versions')} text={versionsInWords(record.versions)} />
        )}
      </dl>
      {record.cut.length > 0 && (
        <p className="jp-mlgpu-Quiet">
          {t('cut', { parts: record.cut.map(part => cutInWords(part, t)).join(', ') })}
        </p>
      )}
    </>
  );
}

/** Readings of a record, a row each, with where they come from. */
export function Readings(props: {
  label?: string;
  readings: readonly IReading[];
  record: IRecord;
  t: Translate;
}): ReactElement {
  const { readings, record, t } = props;
  const { label = t('readings') } = props;
  return (
    <Table label={label} heads={[t('quantity'), t('value')]}>
      {readings.map((reading, index) => (
        <ReadingRow key={index} reading={reading} record={record} t={t} />
      ))}
    </Table>
  );
}

export function ReadingRow(props: {
  reading: IReading;
  record: IRecord;
  t: Translate;
}): ReactElement {
  const { reading, record, t } = props;
  return (
    <tr>
      <th scope="row">{quantityName(reading.quantity, t)}</th>
      {reading.value === null ? (
        <td className="jp-mlgpu-Quiet">
          <Prose text={whyMissing(reading, t)} />
        </td>
      ) : (
        <td>
          <span className="jp-mlgpu-Number">{withUncertainty(reading, record, t)}</span>{' '}
          <span className="jp-mlgpu-Quiet">{origin(reading, t)}</span>
        </td>
      )}
    </tr>
  );
}

export function Devices(props: { devices: IRanOn[]; t: Translate }): ReactElement {
  const { devices, t } = props;
  return (
    <Table label={t('devices')} heads={[t('devices'), t('operations'), t('share')]}>
      {devices.map((entry, index) => (
        <tr key={index}>
          <th scope="row" title={entry.nativeName ?? undefined}>
            {`${entry.device} (${frameworkName(entry.framework)}, ${entry.kind})`}
          </th>
          <Counted entry={entry} t={t} />
        </tr>
      ))}
    </Table>
  );
}

/** How many operations were counted on a device; where none were, why not, and how it is known at all. */
function Counted(props: { entry: IRanOn; t: Translate }): ReactElement {
  const { entry, t } = props;
  const { operations, share, evidence } = entry;
  if (operations === null && share === null) {
    const known = evidence && t(EVIDENCE[evidence]);
    return (
      <td colSpan={2} className="jp-mlgpu-Quiet">
        {dotted(known, entry.whyMissing === null ? t('notCounted') : t.say(entry.whyMissing))}
      </td>
    );
  }
  return (
    <>
      <td>{operations ?? t('notCounted')}</td>
      <td>{share === null ? t('notCounted') : formatShare(share)}</td>
    </>
  );
}

export function Facts(props: { facts: IFact[]; t: Translate }): ReactElement {
  const { facts, t } = props;
  return (
    <table aria-label={t('facts')}>
      <tbody>
        {facts.map(({ name, value, source }, index) => (
          <tr key={index}>
            <th scope="row">{factName(name, t)}</th>
            <td>
              {t.say(value)} <span className="jp-mlgpu-Quiet">{t.say(source)}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Term(props: { name: string; text: string }): ReactElement {
  return (
    <>
      <dt>{props.name}</dt>
      <dd>
        <Prose text={props.text} />
      </dd>
    </>
  );
}
