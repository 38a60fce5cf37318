/** The runs of a repeated cell, as small bars and in words, the warm-up apart. */

import type { ReactElement } from 'react';

import { dotted } from '../record/format';
import type { Translate } from '../language/i18n';
import type { IRecord } from '../record/record';
import { timedRuns } from '../record/repeat';
import { SmallBars, spanInWords, timeInWords } from './SmallBars';

/** Pixels between the warm-up and the timed runs. */
const GAP = 6;

/** Largest number of bars; the newest runs get one. */
const BARS = 60;

export function Runs(props: { record: IRecord; t: Translate }): ReactElement | null {
  const { record, t } = props;
  const [warmUp, ...timed] = record.repeat?.walls ?? [];
  if (warmUp === undefined) {
    return null;
  }
  const newest = timed.slice(-BARS);
  const times = newest.map(wall => timeInWords(wall, t)).join(', ');
  return (
    <p className="jp-mlgpu-Runs">
      <SmallBars
        bars={[{ wall: warmUp, kind: 'warm-up' }, ...newest.map(wall => ({ wall, kind: 'timed' }))]}
        gap={GAP}
        label={t('repeatedRuns', { warmUp: timeInWords(warmUp, t), times })}
      />
      <span>{inWords(record, warmUp, timed.length, t)}</span>
    </p>
  );
}

/** Return `5 runs · 1.1 s to 1.3 s · warm-up 3 s · the rest is from one more run, with the profiler on`. */
function inWords(record: IRecord, warmUp: number | null, count: number, t: Translate): string {
  const walls = timedRuns(record);
  return dotted(
    t('runs', { count }),
    spanInWords(walls, t),
    t('warmUpTook', { time: timeInWords(warmUp, t) }),
    walls.length > 0 && record.mode === 'profiled' && t('restIsProfiled')
  );
}
