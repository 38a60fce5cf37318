/** Parts of the charts of races and benchmarks: grid lines, spreads, markers. */

import type { ReactElement } from 'react';

import type { IRoom, ITick } from '../logscale';

/** What the style sheet goes by: after six of them, colours and dashes come again. */
export function laneOf(lane: number): { 'data-lane': number } {
  return { 'data-lane': lane % 6 };
}

/** A line of a chart as its legend shows it. */
export interface ILegendEntry {
  lane: number;
  name: string;
  /** The class of the line, null where points alone are drawn. */
  line: string | null;
  marked: boolean;
}

export function Legend(props: { entries: readonly ILegendEntry[] }): ReactElement {
  return (
    <ul className="jp-mlgpu-Counts">
      {props.entries.map(({ lane, name, line, marked }, index) => (
        <li key={index}>
          <svg
            width="28"
            height="12"
            aria-hidden="true"
            className="jp-mlgpu-Race-lane"
            {...laneOf(lane)}
          >
            {line !== null && <path className={line} d="M0 6H28" />}
            {marked && <Marker lane={lane} x={14} y={6} />}
          </svg>
          {name}
        </li>
      ))}
    </ul>
  );
}

/** A tick of the upright axis, with its line. */
export function Across(props: { tick: ITick; room: IRoom }): ReactElement {
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

/** A tick of the level axis, with its line. */
export function Along(props: { tick: ITick; room: IRoom }): ReactElement {
  const { tick, room } = props;
  return (
    <>
      <path className="jp-mlgpu-Race-grid" d={`M${tick.at} ${room.top}V${room.bottom}`} />
      <text x={tick.at} y={room.bottom + 16} textAnchor="middle">
        {tick.label}
      </text>
    </>
  );
}

export function Spread(props: {
  x: number;
  spread: readonly [low: number, high: number] | null;
}): ReactElement | null {
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

/** Each line has a shape of its own. */
export function Marker(props: { lane: number; x: number; y: number }): ReactElement {
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

/** The path of a line from point to point. */
export function lineThrough(points: readonly { x: number; y: number }[]): string {
  return points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join('');
}
