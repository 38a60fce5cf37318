/** The readings of two records beside each other, without a judgement, and why there is none. */

import type { ReactElement, ReactNode } from 'react';

import { figures } from '../record/figures';
import { figureNamed } from '../record/head';
import { dotted } from '../record/format';
import type { Translate } from '../language/i18n';
import type { IReading, IRecord } from '../record/record';
import { frameworkName, quantityName, scopeName, shown, whyMissing } from '../record/words';

export function SideBySide(props: {
  a: IRecord;
  b: IRecord;
  why: string;
  t: Translate;
}): ReactElement {
  const { a, b, why, t } = props;
  const sides = [a, b];
  const quantities = new Set(sides.flatMap(({ readings }) => readings.map(one => one.quantity)));
  const notKnown = t('notKnown');
  return (
    <>
      {headline(a, b, t) && <p className="jp-mlgpu-Comparison-headline">{headline(a, b, t)}</p>}
      <p className="jp-mlgpu-Note" role="status">
        {t('notJudged', { why })}
      </p>
      <table aria-label={t('comparison')}>
        <thead>
          <tr>
            <th scope="col">A</th>
            <th scope="col">B</th>
          </tr>
        </thead>
        {[...quantities].map(quantity => (
          <Row key={quantity} name={quantityName(quantity, t)}>
            {sides.map(record => (
              <Readings key={record === a ? 'a' : 'b'} record={record} quantity={quantity} t={t} />
            ))}
          </Row>
        ))}
        <Texts name={t('endedHow')} texts={sides.map(({ outcome }) => t(outcome))} />
        <Texts
          name={t('whereItRan')}
          texts={sides.map(record => figureNamed('where', record, t) || notKnown)}
        />
        {differentVersions(a, b).map(([name, ...versions]) => (
          <Texts
            key={name}
            name={frameworkName(name)}
            texts={versions.map(version => version ?? notKnown)}
          />
        ))}
      </table>
    </>
  );
}

/** Which of the two took how many times as long; empty where that cannot be said of both. */
function headline(a: IRecord, b: IRecord, t: Translate): string {
  const [one, other] = [a, b].map(record =>
    record.outcome === 'ok' ? (figures(record).wall ?? 0) : 0
  ) as [number, number];
  if (one <= 0 || other <= 0) {
    return '';
  }
  const ratio = Math.max(one / other, other / one);
  const times =
    ratio >= 1000 ? Math.round(ratio).toLocaleString('en') : String(+ratio.toPrecision(3));
  const [slow, quick] = one > other ? ['A', 'B'] : ['B', 'A'];
  return times === '1' ? t('tookEqually') : t('tookTimes', { slow, quick, times });
}

/** A cell for either side, under a name. */
function Row(props: { name: string; children: ReactNode }): ReactElement {
  return (
    <tbody>
      <tr>
        <th scope="rowgroup" colSpan={2}>
          {props.name}
        </th>
      </tr>
      <tr>{props.children}</tr>
    </tbody>
  );
}

function Texts(props: { name: string; texts: readonly string[] }): ReactElement {
  return (
    <Row name={props.name}>
      {props.texts.map((text, index) => (
        <td key={index}>{text}</td>
      ))}
    </Row>
  );
}

/** All readings of a quantity: there is one for each device. */
function Readings(props: { record: IRecord; quantity: string; t: Translate }): ReactElement {
  const { record, quantity, t } = props;
  const readings = record.readings.filter(reading => reading.quantity === quantity);
  return (
    <td>
      {readings.length === 0 && <span className="jp-mlgpu-Quiet">{t('notMeasured')}</span>}
      {readings.map((reading, index) => (
        <div key={index}>
          <Value reading={reading} record={record} t={t} />
        </div>
      ))}
    </td>
  );
}

function Value(props: { reading: IReading; record: IRecord; t: Translate }): ReactElement {
  const { reading, record, t } = props;
  const { value, scope, source } = reading;
  if (value === null) {
    return <span className="jp-mlgpu-Quiet">{whyMissing(reading, t)}</span>;
  }
  return (
    <>
      {shown(reading, record, t)}{' '}
      <span className="jp-mlgpu-Quiet">{dotted(scopeName(scope, t), t.say(source))}</span>
    </>
  );
}

/** What is installed on both sides in different versions, or on one side alone. */
function differentVersions(
  a: IRecord,
  b: IRecord
): [name: string, a: string | undefined, b: string | undefined][] {
  const [first, second] = [new Map(a.versions), new Map(b.versions)];
  return [...new Set([...first.keys(), ...second.keys()])]
    .filter(name => first.get(name) !== second.get(name))
    .map(name => [name, first.get(name), second.get(name)]);
}
