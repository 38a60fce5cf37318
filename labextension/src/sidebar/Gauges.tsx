/**
 * Live counters of the machine: numbers, curves of the last minutes on fixed axes, and the same as a table. One
 * crosshair goes through all charts.
 */

import { useEffect, useState, type CSSProperties, type ReactElement } from 'react';

import { asBackground, bands, type IBand } from '../kernel/bands';
import type { ICounters } from '../kernel/counters';
import {
  extremes,
  gaugeName,
  gaugeValue,
  groupName,
  groups,
  rows,
  sampleAt,
  span
} from '../kernel/gauges';
import type { IGauge, IGroup } from '../kernel/gauges';
import type { Message, Translate } from '../language/i18n';
import type { ICounterSource } from '../kernel/machine';
import type { IState } from '../kernel/state';
import { dotted } from '../record/format';
import { Fold } from '../receipts/Fold';
import { Table } from '../receipts/Table';
import { usePaced, usePreferences } from '../receipts/usePreferences';
import { useSignal } from '../receipts/useSignal';
import { Prose } from '../receipts/Prose';
import { GaugeChart, type ICrosshair } from './GaugeChart';

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
  const [pointed, point] = useState<number | null>(null);
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
  const seconds = span(counters);
  const at = pointed && Math.max(pointed, -seconds);
  const crosshair = { at, sample: at === null ? null : sampleAt(counters, at), onMove: point };
  const cells = state === null ? [] : bands(counters, state);
  const style = {
    '--jp-mlgpu-bands': asBackground(cells),
    '--jp-mlgpu-crosshair': `${(1 + (at ?? 0) / seconds) * 100}%`
  } as CSSProperties;
  return (
    <section
      className="jp-mlgpu-Gauges"
      aria-label={t('gauges')}
      data-sampled={sampled}
      data-crosshair={at !== null}
      style={style}
    >
      {samples.length === 0 && whyStopped === null && <p>{t('waitingForNumbers')}</p>}
      <Cells cells={cells} t={t} />
      {groups(series).map(group => (
        <Device key={group.device} {...{ counters, group, live, crosshair, t }} />
      ))}
      {/* Below the charts, which would move with it. */}
      {whyStopped !== null && <p className="jp-mlgpu-Note">{t.say(whyStopped) || t('resting')}</p>}
      {late && whyStopped === null && <p className="jp-mlgpu-Note">{t(whenLate)}</p>}
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
  crosshair: ICrosshair;
  t: Translate;
}): ReactElement {
  const { counters, group, live, crosshair, t } = props;
  const device = groupName(group.device, t);
  return (
    <section className="jp-mlgpu-Gauges-device" aria-label={device}>
      <h3>{device}</h3>
      {group.whyMissing === null ? (
        <>
          {group.gauges.map(gauge => (
            <Gauge key={gauge.index} {...{ counters, gauge, device, live, crosshair, t }} />
          ))}
          <GaugeTable counters={counters} group={group} name={device} t={t} />
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
  crosshair: ICrosshair;
  t: Translate;
}): ReactElement {
  const { counters, gauge, device, live, crosshair, t } = props;
  const { index, unit, limit, whyMissing } = gauge;
  const written = (value: number): string => gaugeValue(value, unit, t);
  const sample = crosshair.at === null ? counters.samples.at(-1) : crosshair.sample;
  const value = sample?.values[index] ?? null;
  const isKnown = value !== null && (live || crosshair.at !== null);
  const found = extremes(counters, index);
  const name = gaugeName(gauge, t);
  const missing = whyMissing !== null && t('notMeasuredBecause', { why: t.say(whyMissing) });
  const source = dotted(t.say(gauge.source), limit === null && t('noLimit'));
  return (
    <div className="jp-mlgpu-Gauge" data-quantity={gauge.quantity}>
      <div className="jp-mlgpu-Gauge-line" title={source}>
        <span>{name}</span>
        <span className="jp-mlgpu-Gauge-value">{isKnown ? written(value) : t('noNumber')}</span>
      </div>
      {found === null ? (
        <p className="jp-mlgpu-Gauge-missing">{missing}</p>
      ) : (
        <GaugeChart
          label={t('chartOf', {
            quantity: name,
            device,
            low: written(found[0]),
            high: written(found[1])
          })}
          highest={found[1]}
          {...{ counters, gauge, source, crosshair, t }}
        />
      )}
      {found !== null && missing && <p className="jp-mlgpu-Quiet">{missing}</p>}
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
            heads={[t('timeOfDay'), ...group.gauges.map(one => gaugeName(one, t))]}
          >
            <tr>
              <th scope="row">{t('source')}</th>
              {group.gauges.map(({ index, source }) => (
                <td key={index}>{t.say(source)}</td>
              ))}
            </tr>
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
