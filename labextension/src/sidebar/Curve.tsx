/** A curve of values over time with a filled area, stretched to its container. */

import type { ReactElement } from 'react';

import { lines, type CurvePoint, type ISides } from '../record/curve';

/** Size of the SVG's view box. */
const WIDTH = 100;
const HEIGHT = 32;

export function Curve(props: {
  points: readonly CurvePoint[];
  sides: ISides;
  /** Text for screen readers; without it the curve is hidden from them. */
  label?: string;
}): ReactElement {
  const { points, sides, label } = props;
  return (
    <svg
      className="jp-mlgpu-Curve"
      role="img"
      aria-label={label}
      aria-hidden={label === undefined}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
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
