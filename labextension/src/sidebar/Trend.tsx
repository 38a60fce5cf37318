/** How long the runs of one cell took, as small bars that all start at zero, and the same in words. */

import type { ReactElement } from 'react';

import type { ITrend } from '../record/cellrows';
import { dotted, formatSeconds } from '../record/format';
import type { Translate } from '../language/i18n';

/** Pixels. */
const HEIGHT = 16;
const WIDTH = 5;
const STEP = 7;

export function Trend(props: { trend: ITrend; t: Translate }): ReactElement {
  const { trend, t } = props;
  const { runs, count } = trend;
  const longest = runs.reduce((most, { wall }) => Math.max(most, wall ?? 0), 0);
  const said = t('trend', { times: runs.map(run => runInWords(run, t)).join(', ') });
  const width = runs.length * STEP;
  return (
    <p className="jp-mlgpu-Trend">
      <svg
        role="img"
        aria-label={said}
        width={width}
        height={HEIGHT}
        viewBox={`0 0 ${width} ${HEIGHT}`}
      >
        <title>{said}</title>
        {runs.map(({ wall, outcome }, index) => {
          const height = wall === null ? 0 : Math.max(2, (wall / longest || 0) * (HEIGHT - 1));
          return (
            <rect
              key={index}
              data-outcome={wall === null ? 'missing' : outcome}
              x={index * STEP + 0.5}
              y={HEIGHT - 0.5 - height}
              width={WIDTH}
              height={height}
            />
          );
        })}
      </svg>
      <span>{summary(runs, count, t)}</span>
    </p>
  );
}

/** `5 runs · 1.1 s to 1.3 s · failed: 1` */
function summary(runs: ITrend['runs'], count: number, t: Translate): string {
  const walls = runs
    .filter(({ outcome }) => outcome === 'ok')
    .map(({ wall }) => wall)
    .filter(wall => wall !== null);
  const [low, high] = [Math.min(...walls), Math.max(...walls)].map(formatSeconds);
  const failed = runs.filter(({ outcome }) => outcome !== 'ok').length;
  return dotted(
    runs.length < count ? t('newestRuns', { shown: runs.length, count }) : t('runs', { count }),
    walls.length > 0 && (low === high ? low : t('span', { low: low ?? '', high: high ?? '' })),
    failed > 0 && t('failedRuns', { count: failed })
  );
}

function runInWords({ wall, outcome }: ITrend['runs'][number], t: Translate): string {
  const time = wall === null ? t('notMeasured') : formatSeconds(wall);
  return outcome === 'ok' ? time : `${time} (${t(outcome)})`;
}
