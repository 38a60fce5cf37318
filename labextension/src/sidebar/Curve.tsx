/** A curve of values over time, filled below, stretched to the room there is. */

import type { ReactElement } from 'react';

import { lines, type CurvePoint, type ISides } from '../record/curve';

/** The box in which it is drawn. */
const WIDTH = 100;
const HEIGHT = 32;

export function Curve(props: {
  points: readonly CurvePoint[];
  sides: ISides;
  /** What it says in words; without them, they stand beside it. */
  label?: string;
}): ReactElement {
  const { points, sides, label } = props;
  return (
    <svg
      className="jp-mlgpu-Curve"
      role="img"
      aria-label={label}
      aria-hidden={label === undefined}
      viewBox={`0 -1 ${WIDTH} ${HEIGHT + 2}`}
      preserveAspectRatio="none"
    >
      {lines(points, sides, [WIDTH, HEIGHT]).map((part, index) => {
        const [left, right] = [part, part.slice(part.lastIndexOf(' ') + 1)].map(
          text => text.split(',')[0] ?? ''
        );
        return (
          <g key={index}>
            <polygon points={`${left},${HEIGHT} ${part} ${right},${HEIGHT}`} />
            <polyline points={part} />
          </g>
        );
      })}
    </svg>
  );
}
