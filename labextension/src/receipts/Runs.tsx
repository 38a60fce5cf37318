/** The runs of a cell that repeats, as small bars that all start at zero, and in words: the warm-up apart. */

import type { ReactElement } from 'react';

import { dotted, formatSeconds } from '../record/format';
import type { Translate } from '../language/i18n';
import type { IRecord } from '../record/record';
import { timedRuns } from '../record/repeat';

/** Pixels. */
const HEIGHT = 16;
const WIDTH = 5;
const STEP = 7;
/** Between the warm-up and the timed runs. */
const GAP = 6;

/** Bars of timed runs, at most: the newest. */
const BARS = 60;

export function Runs(props: { record: IRecord; t: Translate }): ReactElement | null {
  const { record, t } = props;
  const [warmUp, ...timed] = record.repeat?.walls ?? [];
  if (warmUp === undefined) {
    return null;
  }
  const newest = timed.slice(-BARS);
  const longest = Math.max(warmUp ?? 0, ...newest.map(wall => wall ?? 0));
  const time = (wall: number | null): string =>
    wall === null ? t('notMeasured') : formatSeconds(wall);
  const bars = [
    { wall: warmUp, x: 0, kind: 'warm-up' },
    ...newest.map((wall, index) => ({ wall, x: (index + 1) * STEP + GAP, kind: 'timed' }))
  ];
  const width = (newest.length + 1) * STEP + GAP;
  const said = t('repeatedRuns', { warmUp: time(warmUp), times: newest.map(time).join(', ') });
  return (
    <p className="jp-mlgpu-Runs">
      <svg
        role="img"
        aria-label={said}
        width={width}
        height={HEIGHT}
        viewBox={`0 0 ${width} ${HEIGHT}`}
      >
        <title>{said}</title>
        {bars.map(({ wall, x, kind }) => {
          const height = wall === null ? 0 : Math.max(2, (wall / longest || 0) * (HEIGHT - 1));
          return (
            <rect
              key={x}
              data-kind={kind}
              x={x + 0.5}
              y={HEIGHT - 0.5 - height}
              width={WIDTH}
              height={height}
            />
          );
        })}
      </svg>
      <span>{inWords(record, warmUp, timed.length, t)}</span>
    </p>
  );
}

/** `5 runs · 1.1 s to 1.3 s · warm-up 3 s · the rest is from one more run, with the profiler on` */
function inWords(record: IRecord, warmUp: number | null, count: number, t: Translate): string {
  const walls = timedRuns(record);
  const [low, high] = [Math.min(...walls), Math.max(...walls)].map(formatSeconds);
  return dotted(
    t('runs', { count }),
    walls.length > 0 && (low === high ? low : t('span', { low: low ?? '', high: high ?? '' })),
    t('warmUpTook', { time: warmUp === null ? t('notMeasured') : formatSeconds(warmUp) }),
    walls.length > 0 && record.mode === 'profiled' && t('restIsProfiled')
  );
}
