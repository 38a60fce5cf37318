/** Live counters of the machine: numbers, curves of the last minutes, and the same as a table. */

import { useEffect, useState, type CSSProperties, type ReactElement } from 'react';

import { asBackground, bands, type IBand } from '../kernel/bands';
import type { ICounters } from '../kernel/counters';
import { dotted, formatSeconds } from '../record/format';
import {
  extremes,
  gaugeValue,
  groupName,
  groups,
  peak,
  points,
  rows,
  span,
  top
} from '../kernel/gauges';
import type { IGauge, IGroup } from '../kernel/gauges';
import type { Message, Translate } from '../language/i18n';
import type { ICounterSource } from '../kernel/machine';
import type { IState } from '../kernel/state';
import { quantityName } from '../record/words';
import { Fold } from '../receipts/Fold';
import { Table } from '../receipts/Table';
import { usePaced, usePreferences } from '../receipts/usePreferences';
import { useSignal } from '../receipts/useSignal';
import { Prose } from '../receipts/Prose';
import { Curve } from './Curve';

/** Milliseconds after which the last number is too old to be shown. */
const LATE = 3_000;

export function Gauges(props: {
  /** The notebook's kernel, or the server's machine. */
  of: ICounterSource;
  /** State of the kernel; null for a machine. */
  state: IState | null;
  /** Message for numbers that are late. */
  whenLate: Message;
  t: Translate;
}): ReactElement {
  const { of: source, state, whenLate, t } = props;
  const { counters: store } = source;
  const { liveGauges, redrawSeconds } = usePreferences();
  const newest = useSignal(store.changed, () => store.value);
  // The first numbers are shown at once.
  const counters = usePaced(newest, newest.sampled === null ? 0 : redrawSeconds);
  // A kernel's counters go on out of sight, so that the curve has no gap when the user comes back.
  useEffect(() => source.requestCounters(liveGauges), [source, liveGauges]);
  const late = useLate(newest);
  const { samples, series, sampled } = counters;
  const { whyStopped } = newest;
  const live = sampled !== null && !late && whyStopped === null;
  if (!liveGauges) {
    return <p className="jp-mlgpu-Quiet">{t('gaugesOff')}</p>;
  }
  const cells = state === null ? [] : bands(counters, state);
  const style = { '--jp-mlgpu-bands': asBackground(cells) } as CSSProperties;
  return (
    <section
      className="jp-mlgpu-Gauges"
      aria-label={t('gauges')}
      data-sampled={sampled}
      style={style}
    >
      {samples.length === 0 && whyStopped === null && <p>{t('waitingForNumbers')}</p>}
      {whyStopped !== null && <p className="jp-mlgpu-Note">{t.say(whyStopped) || t('resting')}</p>}
      {late && whyStopped === null && <p className="jp-mlgpu-Note">{t(whenLate)}</p>}
      <Cells cells={cells} t={t} />
      {groups(series).map(group => (
        <Device key={group.device} counters={counters} group={group} live={live} t={t} />
      ))}
      {samples.length > 0 && (
        <p className="jp-mlgpu-Quiet">
          {t('lastSeconds', { time: formatSeconds(span(counters)) })}
        </p>
      )}
    </section>
  );
}

/** The cells of the bands, with their numbers. */
function Cells(props: { cells: readonly IBand[]; t: Translate }): ReactElement {
  const { cells, t } = props;
  return (
    <ol className="jp-mlgpu-Bands" aria-label={t('cells')}>
      {cells.map(({ key, cell, from, to }) => (
        <li
          key={key}
          title={`[${cell.executionCount ?? '*'}] ${cell.name}`}
          style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }}
        >
          {`[${cell.executionCount ?? '*'}]`} <span className="jp-mlgpu-Hidden">{cell.name}</span>
        </li>
      ))}
    </ol>
  );
}

function Device(props: {
  counters: ICounters;
  group: IGroup;
  live: boolean;
  t: Translate;
}): ReactElement {
  const { counters, group, live, t } = props;
  const name = groupName(group.device, t);
  return (
    <section className="jp-mlgpu-Gauges-device" aria-label={name}>
      <h3>{name}</h3>
      {group.whyMissing === null ? (
        <>
          {group.gauges.map(gauge => (
            <Gauge
              key={gauge.index}
              counters={counters}
              gauge={gauge}
              device={name}
              live={live}
              t={t}
            />
          ))}
          <GaugeTable counters={counters} group={group} name={name} t={t} />
        </>
      ) : (
        <p className="jp-mlgpu-Quiet">
          <Prose text={t('notMeasuredBecause', { why: t.say(group.whyMissing) })} />
        </p>
      )}
    </section>
  );
}

function Gauge(props: {
  counters: ICounters;
  gauge: IGauge;
  device: string;
  live: boolean;
  t: Translate;
}): ReactElement {
  const { counters, gauge, device, live, t } = props;
  const { index, unit, limit, source, whyMissing } = gauge;
  const written = (value: number): string => gaugeValue(value, unit, t);
  const value = counters.samples.at(-1)?.values[index] ?? null;
  const found = extremes(counters, index);
  const highest = peak(counters, index);
  const quantity = quantityName(gauge.quantity, t);
  return (
    <div className="jp-mlgpu-Gauge" data-quantity={gauge.quantity}>
      <div className="jp-mlgpu-Gauge-line">
        <span>{quantity}</span>
        <span className="jp-mlgpu-Gauge-value">
          {value === null || !live ? t('noNumber') : written(value)}
        </span>
      </div>
      {found !== null && (
        <div
          role="img"
          aria-label={t('chartOf', {
            quantity,
            device,
            low: written(found[0]),
            high: written(found[1])
          })}
          className="jp-mlgpu-Gauge-chart"
        >
          <Curve
            points={points(counters, index)}
            sides={{ from: -span(counters), to: 0, top: top(limit, found[1], unit) }}
          />
          {highest !== null && (
            <span
              className="jp-mlgpu-Gauge-peak"
              aria-hidden="true"
              style={{ left: `${highest.at * 100}%`, translate: `${-highest.at * 100}%` }}
            >
              {t('gaugePeak', { value: written(highest.value) })}
            </span>
          )}
        </div>
      )}
      <p className="jp-mlgpu-Gauge-source">
        {limit === null
          ? t('noLimit', { top: written(top(null, found?.[1] ?? 0, unit)) })
          : dotted(
              found && t('chartTop', { top: written(top(limit, found[1], unit)) }),
              t('atMost', { limit: written(limit) })
            )}{' '}
        · {t.say(source)}
      </p>
      {whyMissing !== null && (
        <p className="jp-mlgpu-Quiet">{t('notMeasuredBecause', { why: t.say(whyMissing) })}</p>
      )}
    </div>
  );
}

/** The table of one device, with a row every ten seconds. */
function GaugeTable(props: {
  counters: ICounters;
  group: IGroup;
  /** Display name of the device. */
  name: string;
  t: Translate;
}): ReactElement {
  const { counters, group, name, t } = props;
  return (
    <Fold label={t('asTable')} name="GaugeTable">
      {() => (
        <div className="jp-mlgpu-GaugeTable-scroll" role="group" aria-label={name} tabIndex={0}>
          <Table
            caption={<caption className="jp-mlgpu-Hidden">{name}</caption>}
            heads={[t('timeOfDay'), ...group.gauges.map(one => quantityName(one.quantity, t))]}
          >
            {rows(counters).map(({ at, values }) => (
              <tr key={at}>
                <th scope="row">{new Date(at).toLocaleTimeString()}</th>
                {group.gauges.map(({ index, unit }) => {
                  const value = values[index] ?? null;
                  return <td key={index}>{value === null ? '–' : gaugeValue(value, unit, t)}</td>;
                })}
              </tr>
            ))}
          </Table>
        </div>
      )}
    </Fold>
  );
}

/** Return true if no number has come for a while. */
function useLate({ sampled, whyStopped }: ICounters): boolean {
  const [lateAfter, setLateAfter] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setLateAfter(sampled), LATE);
    return () => clearTimeout(timer);
  }, [sampled, whyStopped]);
  return sampled !== null && lateAfter === sampled;
}
