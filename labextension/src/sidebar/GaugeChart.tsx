/** A live counter's curve over its time axis. The pointer or the arrow keys move the crosshair. */

import { memo, useState, type KeyboardEvent, type ReactElement } from 'react';

import type { ICounters, ISample } from '../kernel/counters';
import { ago, gaugeValue, points, sampleAt, span, top } from '../kernel/gauges';
import type { IGauge } from '../kernel/gauges';
import type { Translate } from '../language/i18n';
import { dotted } from '../record/format';
import { Curve } from './Curve';

/** Part of a chart by which an arrow key moves the crosshair, and the number of them of a page key. */
const STEP = 1 / 60;
const PAGE = 10;

export interface ICrosshair {
  /** Seconds before the newest sample, 0 or less; null if the crosshair is not shown. */
  at: number | null;
  /** The sample there. */
  sample: ISample | null;
  onMove: (at: number | null) => void;
}

export function GaugeChart(props: {
  counters: ICounters;
  gauge: IGauge;
  label: string;
  source: string;
  highest: number;
  crosshair: ICrosshair;
  t: Translate;
}): ReactElement {
  const { counters, gauge, label, source, highest, crosshair, t } = props;
  const { index, limit, unit } = gauge;
  const { at, onMove } = crosshair;
  const height = top(limit, highest, unit);
  // A screen reader is told of a key's result, not of each new sample.
  const [said, say] = useState<string | null>(null);
  const seconds = span(counters);
  const onKeyDown = (event: KeyboardEvent): void => {
    const place = placeAfter(event.key, at, seconds);
    if (place === undefined) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    onMove(place);
    const value = place === null ? null : (sampleAt(counters, place)?.values[index] ?? null);
    const text = value === null ? t('noNumber') : gaugeValue(value, unit, t);
    say(place === null ? null : dotted(ago(place, t), text));
  };
  return (
    <div
      className="jp-mlgpu-Gauge-chart"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-description={source}
      aria-valuemin={-seconds}
      aria-valuemax={0}
      aria-valuenow={at ?? 0}
      aria-valuetext={said ?? t('axisNow')}
      onPointerMove={({ clientX, currentTarget }) => {
        const { left, width } = currentTarget.getBoundingClientRect();
        onMove(((clientX - left) / width - 1) * seconds);
      }}
      onPointerLeave={() => onMove(null)}
      onKeyDown={onKeyDown}
      onBlur={() => {
        onMove(null);
        say(null);
      }}
    >
      <div className="jp-mlgpu-Gauge-plot">
        <div className="jp-mlgpu-Gauge-top">
          <span>{gaugeValue(height, unit, t)}</span>
          <span>{t('gaugePeak', { value: gaugeValue(highest, unit, t) })}</span>
        </div>
        <Plot counters={counters} index={index} height={height} />
      </div>
      <Axis seconds={seconds} at={at} t={t} />
    </div>
  );
}

/** The ends of the time axis. Where the crosshair's time would cover one of them, the other one stays. */
function Axis(props: { seconds: number; at: number | null; t: Translate }): ReactElement {
  const { seconds, at, t } = props;
  const isLate = at !== null && at > -seconds / 2;
  return (
    <div className="jp-mlgpu-Gauge-axis">
      <span>{(at === null || isLate) && ago(-seconds, t)}</span>
      {at !== null && <span className="jp-mlgpu-Gauge-at">{ago(at, t)}</span>}
      <span>{!isLate && t('axisNow')}</span>
    </div>
  );
}

/** The curve itself, which is not drawn again for each move of the crosshair. */
const Plot = memo(function Plot(props: {
  counters: ICounters;
  index: number;
  height: number;
}): ReactElement {
  const { counters, index, height } = props;
  return (
    <Curve points={points(counters, index)} sides={{ from: -span(counters), to: 0, top: height }} />
  );
});

/** Return the crosshair's place after a key, null if the key removes it; undefined for other keys. */
function placeAfter(key: string, at: number | null, seconds: number): number | null | undefined {
  const moved = (steps: number): number =>
    Math.min(0, Math.max(-seconds, (at ?? 0) + steps * STEP * seconds));
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return moved(-1);
    case 'ArrowRight':
    case 'ArrowUp':
      return moved(1);
    case 'PageDown':
      return moved(-PAGE);
    case 'PageUp':
      return moved(PAGE);
    case 'Home':
      return -seconds;
    case 'End':
      return 0;
    case 'Escape':
      return at === null ? undefined : null;
    default:
      return undefined;
  }
}
