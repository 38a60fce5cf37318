/** The chart of a race: a line a device with its own marker and dashes, or a bar a device without sizes. */

import type { ReactElement } from 'react';

import type { Translate } from '../../i18n';
import type { IRace } from '../../race';
import { bars, curves, formatTiming } from '../../racechart';
import type { IBars, ICurves } from '../../racechart';
import type { IRoom } from '../../logscale';
import { Across, Along, Legend, Marker, Spread, laneOf, lineThrough } from '../drawing';
import { useWidth } from '../useWidth';

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
      <Legend
        entries={race.lanes.map(({ device, hardware }, lane) => ({
          lane,
          name: hardware === null ? device : `${device} (${hardware})`,
          line: over && 'jp-mlgpu-Race-line',
          marked: true
        }))}
      />
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

function Curves(props: { curves: ICurves; room: IRoom; race: IRace }): ReactElement {
  const { curves, room, race } = props;
  return (
    <>
      {curves.xTicks.map((tick, index) => (
        <Along key={index} tick={tick} room={room} />
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
