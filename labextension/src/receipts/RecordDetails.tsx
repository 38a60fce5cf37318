/** All that a record holds: every reading with unit, scope and source, or the reason why it is missing. */

import type { ReactElement } from 'react';

import { dotted, formatShare } from '../record/format';
import type { Message, Translate } from '../language/i18n';
import { cutInWords } from '../record/notes';
import type { Evidence, IFact, IRanOn, IReading, IRecord } from '../record/record';
import { origin, withUncertainty } from '../record/recordtext';
import { factName, quantityName, whyMissing } from '../record/words';
import { Operations } from './Operations';
import { Table } from './Table';

const EVIDENCE: Record<Evidence, Message> = {
  counted: 'evidenceCounted',
  'only device': 'evidenceOnly',
  allocator: 'evidenceAllocator',
  results: 'evidenceResults'
};

export function RecordDetails(props: { record: IRecord; t: Translate }): ReactElement {
  const { record, t } = props;
  return (
    <div className="jp-mlgpu-Details">
      <Readings readings={record.readings} record={record} t={t} />
      <Operations record={record} t={t} />
      {record.ranOn !== null && record.ranOn.length > 0 && <Devices devices={record.ranOn} t={t} />}
      {record.facts.length > 0 && <Facts facts={record.facts} t={t} />}
      {record.whyDeviceMissing && (
        <dl>
          <Term name={t('device')} text={t.say(record.whyDeviceMissing)} />
        </dl>
      )}
      {record.limit === null && record.whyNoLimit && (
        <dl>
          <Term name={t('limit')} text={t('limitNotKnown', { why: t.say(record.whyNoLimit) })} />
        </dl>
      )}
      <About record={record} t={t} />
    </div>
  );
}

/** What the kernel says of the record besides its figures. */
export function Notes(props: { record: IRecord; t: Translate }): ReactElement {
  return (
    <>
      {props.record.notes.map((note, index) => (
        <p key={index} className="jp-mlgpu-Note">
          {props.t.say(note)}
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
          <Term
            name={t('versions')}
            text={record.versions.map(([name, version]) => `${name} ${version}`).join(', ')}
          />
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
        <td className="jp-mlgpu-Quiet">{whyMissing(reading, t)}</td>
      ) : (
        <td>
          {withUncertainty(reading, record, t)}{' '}
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
            {`${entry.device} (${entry.framework}, ${entry.kind})`}
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
      <dd>{props.text}</dd>
    </>
  );
}
