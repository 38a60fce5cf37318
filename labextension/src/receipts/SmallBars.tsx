/** Times of runs as small bars that start at zero, and in words. */

import type { ReactElement } from 'react';

import { formatSeconds } from '../record/format';
import type { Translate } from '../language/i18n';

/** Sizes in pixels. */
const HEIGHT = 16;
const WIDTH = 5;
const STEP = 7;

export interface IBar {
  wall: number | null;
  /** Selects the bar's style. */
  kind: string;
}

export function SmallBars(props: {
  bars: readonly IBar[];
  label: string;
  /** Additional pixels between the first and the second bar. */
  gap?: number;
}): ReactElement {
  const { bars, label, gap = 0 } = props;
  const longest = Math.max(0, ...bars.map(({ wall }) => wall ?? 0));
  const width = bars.length * STEP + gap;
  return (
    <svg
      role="img"
      aria-label={label}
      width={width}
      height={HEIGHT}
      viewBox={`0 0 ${width} ${HEIGHT}`}
    >
      <title>{label}</title>
      {bars.map(({ wall, kind }, index) => {
        const height = wall === null ? 0 : Math.max(2, (wall / longest || 0) * (HEIGHT - 1));
        return (
          <rect
            key={index}
            data-kind={kind}
            x={index * STEP + (index > 0 ? gap : 0) + 0.5}
            y={HEIGHT - 0.5 - height}
            width={WIDTH}
            height={height}
          />
        );
      })}
    </svg>
  );
}

export function timeInWords(wall: number | null, t: Translate): string {
  return wall === null ? t('notMeasured') : formatSeconds(wall);
}

/** Return `1.1 s to 1.3 s`, or one time if all are equal; empty if there is none. */
export function spanInWords(walls: readonly number[], t: Translate): string {
  if (walls.length === 0) {
    return '';
  }
  const [low, high] = [Math.min(...walls), Math.max(...walls)].map(formatSeconds) as [
    string,
    string
  ];
  return low === high ? low : t('span', { low, high });
}
