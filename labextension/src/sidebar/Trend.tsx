/** The durations of a cell's runs, as small bars and in words. */

import type { ReactElement } from 'react';

import type { ITrend } from '../record/cellrows';
import { dotted } from '../record/format';
import type { Translate } from '../language/i18n';
import { SmallBars, spanInWords, timeInWords } from '../receipts/SmallBars';

export function Trend(props: { trend: ITrend; t: Translate }): ReactElement {
  const { runs, count } = props.trend;
  const { t } = props;
  return (
    <p className="jp-mlgpu-Trend">
      <SmallBars
        bars={runs.map(({ wall, outcome }) => {
          return { wall, kind: wall === null ? 'missing' : outcome };
        })}
        label={t('trend', { times: runs.map(run => runInWords(run, t)).join(', ') })}
      />
      <span>{summary(runs, count, t)}</span>
    </p>
  );
}

/** Return `5 runs · 1.1 s to 1.3 s · failed: 1`. */
function summary(runs: ITrend['runs'], count: number, t: Translate): string {
  const walls = runs
    .filter(({ outcome }) => outcome === 'ok')
    .map(({ wall }) => wall)
    .filter(wall => wall !== null);
  const failed = runs.filter(({ outcome }) => outcome !== 'ok').length;
  return dotted(
    runs.length < count ? t('newestRuns', { shown: runs.length, count }) : t('runs', { count }),
    spanInWords(walls, t),
    failed > 0 && t('failedRuns', { count: failed })
  );
}

function runInWords({ wall, outcome }: ITrend['runs'][number], t: Translate): string {
  const time = timeInWords(wall, t);
  return outcome === 'ok' ? time : `${time} (${t(outcome)})`;
}
