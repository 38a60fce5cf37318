/** What the machine does now: numbers, a line of the last minutes beside each, and the same as a table. */

import { Suspense, lazy, useEffect, useState } from 'react';
import type { ReactElement } from 'react';

import type { ICounters } from '../kernel/counters';
import { formatSeconds } from '../record/format';
import { extremes, gaugeValue, groupName, groups, points, rows, span, top } from '../kernel/gauges';
import type { IGauge, IGroup } from '../kernel/gauges';
import type { Translate } from '../language/i18n';
import type { NotebookSession } from '../kernel/notebooks';
import { quantityName } from '../record/words';
import { Fold } from '../receipts/Fold';
import { Table } from '../receipts/Table';
import { usePaced, usePreferences } from '../receipts/usePreferences';
import { useSignal } from '../receipts/useSignal';

const Chart = lazy(() => import('./Chart'));

/** Milliseconds without a number after which the last one is no longer shown as the present one. */
const LATE = 3_000;

/** Begin to load what draws, while the kernel is still being asked. */
export function useChartSoon(): void {
  useEffect(() => {
    // One that does not come is asked for again, and told of, where it is drawn.
    import('./Chart').catch(() => undefined);
  }, []);
}

export function Gauges(props: { session: NotebookSession; t: Translate }): ReactElement {
  const { session, t } = props;
  const { counters: store } = session.model;
  const { liveGauges, redrawSeconds } = usePreferences();
  const newest = useSignal(store.changed, () => store.value);
  // The first numbers are not waited for.
  const counters = usePaced(newest, newest.sampled === null ? 0 : redrawSeconds);
  useEffect(
    () => (liveGauges ? whileVisible(() => session.watch()) : undefined),
    [session, liveGauges]
  );
  const late = useLate(newest);
  const { samples, series, sampled } = counters;
  const { whyResting } = newest;
  const live = sampled !== null && !late && whyResting === null;
  if (!liveGauges) {
    return <p className="jp-mlgpu-Quiet">{t('gaugesOff')}</p>;
  }
  return (
    <section className="jp-mlgpu-Gauges" aria-label={t('gauges')} data-sampled={sampled}>
      {samples.length === 0 && whyResting === null && <p>{t('waitingForNumbers')}</p>}
      {whyResting !== null && <p className="jp-mlgpu-Note">{t.say(whyResting) || t('resting')}</p>}
      {late && whyResting === null && <p className="jp-mlgpu-Note">{t('numbersStay')}</p>}
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
          {t('notMeasuredBecause', { why: t.say(group.whyMissing) })}
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
          <Suspense fallback={<div className="jp-mlgpu-Chart" />}>
            <Chart
              data={points(counters, index)}
              span={span(counters)}
              top={top(limit, found[1])}
            />
          </Suspense>
        </div>
      )}
      <p className="jp-mlgpu-Gauge-source">
        {limit === null
          ? t('noLimit', { top: written(top(null, found?.[1] ?? 0)) })
          : t('atMost', { limit: written(limit) })}{' '}
        · {t.say(source)}
      </p>
      {whyMissing !== null && (
        <p className="jp-mlgpu-Quiet">{t('notMeasuredBecause', { why: t.say(whyMissing) })}</p>
      )}
    </div>
  );
}

/** The table beside the charts of one device: a row every ten seconds. */
function GaugeTable(props: {
  counters: ICounters;
  group: IGroup;
  /** The device's name. */
  name: string;
  t: Translate;
}): ReactElement {
  const { counters, group, name, t } = props;
  return (
    <Fold label={t('asTable')} name="GaugeTable">
      {() => (
        <div className="jp-mlgpu-GaugeTable-scroll" role="region" aria-label={name} tabIndex={0}>
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

/** Whether no number has come for a while. */
function useLate({ sampled, whyResting }: ICounters): boolean {
  const [lateAfter, setLateAfter] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setLateAfter(sampled), LATE);
    return () => clearTimeout(timer);
  }, [sampled, whyResting]);
  return sampled !== null && lateAfter === sampled;
}

/** Does something while the page can be seen: not in a tab behind others, nor in a small window's icon. */
function whileVisible(begin: () => () => void): () => void {
  let end: (() => void) | null = null;
  const look = (): void => {
    if (document.visibilityState === 'visible') {
      end ??= begin();
    } else {
      end?.();
      end = null;
    }
  };
  document.addEventListener('visibilitychange', look);
  look();
  return () => {
    document.removeEventListener('visibilitychange', look);
    end?.();
  };
}
