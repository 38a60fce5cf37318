/** One chart of a benchmark: speed against size, or under a roof, on logarithmic axes. */

import type { ReactElement } from 'react';

import type { IBenchChart, ISeries } from '../../bench';
import type { Translate } from '../../i18n';
import { decades, formatPower, logarithmic, ticks } from '../../logscale';
import type { IRoom, Scale } from '../../logscale';
import { Across, Along, Legend, Marker, Spread, laneOf, lineThrough } from '../drawing';
import { useWidth } from '../useWidth';

const HEIGHT = 280;
const NARROWEST = 200;

export function BenchChart(props: { chart: IBenchChart; t: Translate }): ReactElement | null {
  const { chart, t } = props;
  const [measured, ref] = useWidth(480);
  const width = Math.max(measured, NARROWEST);
  const room: IRoom = { left: 58, right: width - 24, top: 10, bottom: HEIGHT - 40 };
  const points = chart.series.flatMap(one => one.points);
  const across = decades(points.map(({ x }) => x));
  const up = decades(points.flatMap(({ y, spread }) => [y, ...(spread ?? [])]));
  if (across === null || up === null) {
    return null;
  }
  const x = logarithmic(across, room.left, room.right);
  const y = logarithmic(up, room.bottom, room.top);
  const title = t.say(chart.title);
  return (
    <div ref={ref} className="jp-mlgpu-Race">
      <p>{`${title}, ${chart.y}`}</p>
      <Legend
        entries={chart.series.map(one => ({
          lane: one.colour,
          name: t.say(one.name),
          line: lineOf(one),
          marked: one.kind !== 'roof'
        }))}
      />
      <svg
        role="img"
        aria-label={t('benchChart', { title, x: t.say(chart.x), y: chart.y })}
        width={width}
        height={HEIGHT}
      >
        {ticks(up, room.bottom - room.top, 18, y, formatPower).map((tick, index) => (
          <Across key={index} tick={tick} room={room} />
        ))}
        {ticks(across, room.right - room.left, 44, x, formatPower).map((tick, index) => (
          <Along key={index} tick={tick} room={room} />
        ))}
        <text x={(room.left + room.right) / 2} y={room.bottom + 34} textAnchor="middle">
          {t.say(chart.x)}
        </text>
        {chart.series.map((one, index) => (
          <Series key={index} series={one} x={x} y={y} />
        ))}
      </svg>
    </div>
  );
}

function Series(props: { series: ISeries; x: Scale; y: Scale }): ReactElement {
  const { series, x, y } = props;
  const { points, kind, colour } = series;
  const line = lineOf(series);
  const path = lineThrough(points.map(point => ({ x: x(point.x), y: y(point.y) })));
  return (
    <g className="jp-mlgpu-Race-lane" {...laneOf(colour)}>
      {line !== null && <path className={line} d={path} />}
      {kind !== 'roof' &&
        points.map((point, index) => (
          <g key={index}>
            <title>{point.label}</title>
            <Spread
              x={x(point.x)}
              spread={point.spread && [y(point.spread[0]), y(point.spread[1])]}
            />
            <Marker lane={colour} x={x(point.x)} y={y(point.y)} />
          </g>
        ))}
    </g>
  );
}

/** The class of its line; null for points alone. */
function lineOf({ kind }: ISeries): string | null {
  if (kind === 'points') {
    return null;
  }
  return kind === 'roof' ? 'jp-mlgpu-Race-line jp-mlgpu-Bench-roof' : 'jp-mlgpu-Race-line';
}
