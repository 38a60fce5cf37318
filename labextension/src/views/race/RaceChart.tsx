/** The chart of a race: a line a device with its own marker and dashes, or a bar a device without sizes. */

import type { ReactElement } from 'react';

import type { Translate } from '../../i18n';
import type { IRace } from '../../race';
import { bars, curves, formatTiming } from '../../racechart';
import type { IBars, ICurves, IPoint, IRoom, ITick } from '../../racechart';
import { useWidth } from './useWidth';

const HEIGHT = 260;
const NARROWEST = 200;

export function RaceChart(props: { race: IRace; t: Translate }): ReactElement {
  const { race, t } = props;
  const [measured, ref] = useWidth(480);
  const width = Math.max(measured, NARROWEST);
  const room: IRoom = {
    left: 58,
    right: width - 24,
    top: 10,
    bottom: HEIGHT - (race.variable === null ? 24 : 40)
  };
  const over = race.variable === null ? null : curves(race, room);
  const alone = race.variable === null ? bars(race, room) : null;
  const ticks = over?.yTicks ?? alone?.yTicks;
  if (ticks === undefined) {
    return <p>{t('raceNothing')}</p>;
  }
  const devices = race.lanes.map(({ device }) => device).join(', ');
  const { cell, variable } = race;
  const label =
    variable === null
      ? t('raceChart', { cell, devices })
      : t('raceChartOver', { cell, variable, devices });
  return (
    <div ref={ref} className="jp-mlgpu-Race">
      <ul className="jp-mlgpu-Counts">
        {race.lanes.map((lane, index) => (
          <li key={index}>
            <svg
              width="28"
              height="12"
              aria-hidden="true"
              className="jp-mlgpu-Race-lane"
              {...laneOf(index)}
            >
              {over && <path className="jp-mlgpu-Race-line" d="M0 6H28" />}
              <Marker lane={index} x={14} y={6} />
            </svg>
            {lane.hardware === null ? lane.device : `${lane.device} (${lane.hardware})`}
          </li>
        ))}
      </ul>
      <svg role="img" aria-label={label} width={width} height={HEIGHT}>
        {ticks.map((tick, index) => (
          <Across key={index} tick={tick} room={room} />
        ))}
        {over && <Curves curves={over} room={room} race={race} />}
        {alone && <Bars bars={alone} room={room} race={race} />}
      </svg>
    </div>
  );
}

/** What the style sheet goes by: after six devices, colours and dashes come again. */
function laneOf(lane: number): { 'data-lane': number } {
  return { 'data-lane': lane % 6 };
}

function Across(props: { tick: ITick; room: IRoom }): ReactElement {
  const { tick, room } = props;
  return (
    <>
      <path className="jp-mlgpu-Race-grid" d={`M${room.left} ${tick.at}H${room.right}`} />
      <text x={room.left - 6} y={tick.at + 4} textAnchor="end">
        {tick.label}
      </text>
    </>
  );
}

function Curves(props: { curves: ICurves; room: IRoom; race: IRace }): ReactElement {
  const { curves, room, race } = props;
  return (
    <>
      {curves.xTicks.map(({ at, label }, index) => (
        <g key={index}>
          <path className="jp-mlgpu-Race-grid" d={`M${at} ${room.top}V${room.bottom}`} />
          <text x={at} y={room.bottom + 16} textAnchor="middle">
            {label}
          </text>
        </g>
      ))}
      <text x={(room.left + room.right) / 2} y={room.bottom + 34} textAnchor="middle">
        {race.variable}
      </text>
      {curves.crossovers.map(({ x, from, to }, index) => (
        <g key={index} className="jp-mlgpu-Race-crossover">
          <rect
            x={Math.min(from, to)}
            y={room.top}
            width={Math.abs(to - from)}
            height={room.bottom - room.top}
          />
          <path d={`M${x} ${room.top}V${room.bottom}`} />
        </g>
      ))}
      {curves.lanes.map((points, lane) => (
        <g key={lane} className="jp-mlgpu-Race-lane" {...laneOf(lane)}>
          <path className="jp-mlgpu-Race-line" d={lineThrough(points)} />
          {points.map((point, index) => (
            <g key={index}>
              <title>{`${race.lanes[lane]?.device ?? ''}: ${formatTiming(point.timing)}`}</title>
              <Spread x={point.x} spread={point.spread} />
              <Marker lane={lane} x={point.x} y={point.y} />
            </g>
          ))}
        </g>
      ))}
    </>
  );
}

function Bars(props: { bars: IBars; room: IRoom; race: IRace }): ReactElement {
  const { bars, room, race } = props;
  return (
    <>
      {bars.bars.map(
        (bar, lane) =>
          bar && (
            <g key={lane} className="jp-mlgpu-Race-lane" {...laneOf(lane)}>
              <rect x={bar.x} y={bar.y} width={bar.width} height={room.bottom - bar.y} />
              <g className="jp-mlgpu-Race-over">
                <Spread x={bar.x + bar.width / 2} spread={bar.spread} />
              </g>
              <text x={bar.x + bar.width / 2} y={room.bottom + 16} textAnchor="middle">
                {race.lanes[lane]?.device}
              </text>
            </g>
          )
      )}
    </>
  );
}

function Spread(props: { x: number; spread: IPoint['spread'] }): ReactElement | null {
  const { x, spread } = props;
  return (
    spread && (
      <path
        className="jp-mlgpu-Race-spread"
        d={`M${x} ${spread[0]}V${spread[1]}M${x - 4} ${spread[0]}h8M${x - 4} ${spread[1]}h8`}
      />
    )
  );
}

/** Each device has a shape of its own. */
function Marker(props: { lane: number; x: number; y: number }): ReactElement {
  const { lane, x, y } = props;
  return (
    <path
      className="jp-mlgpu-Race-marker"
      transform={`translate(${x} ${y})`}
      d={MARKERS[lane % MARKERS.length]}
    />
  );
}

const MARKERS = [
  // Disc, square, triangle, diamond, cross.
  'M0-4a4 4 0 1 1 0 8a4 4 0 1 1 0-8z',
  'M-3.5-3.5h7v7h-7z',
  'M0-4.5l4.5 8h-9z',
  'M0-5l4 5-4 5-4-5z',
  'M-1.2-4h2.4v2.8H4v2.4H1.2V4h-2.4V1.2H-4v-2.4h2.8z'
];

function lineThrough(points: readonly IPoint[]): string {
  return points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join('');
}
