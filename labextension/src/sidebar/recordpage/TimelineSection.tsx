/** The timeline of a profiled cell; where there is none, why not and how to get one. */

import type { ReactElement } from 'react';

import { formatSeconds } from '../../record/format';
import type { Translate } from '../../language/i18n';
import { cutAt } from '../../record/timeline';
import type { ITimeline } from '../../record/timeline';
import { Timeline } from './Timeline';
import type { RecordPage } from './useRecordPage';

export function TimelineSection(props: { page: RecordPage; t: Translate }): ReactElement {
  const { page, t } = props;
  if (page.state === 'asking') {
    return (
      <p className="jp-mlgpu-Quiet" role="status">
        {t('kernel_asking')}
      </p>
    );
  }
  if (page.state === 'failed') {
    return <p className="jp-mlgpu-Quiet">{t('timelineFailed', { why: t.say(page.why) })}</p>;
  }
  const { timeline } = page.details;
  if (typeof timeline === 'string') {
    return <p className="jp-mlgpu-Quiet">{t(`timeline_${timeline}`)}</p>;
  }
  if (timeline.starts.length === 0) {
    return <p className="jp-mlgpu-Quiet">{t('timeline_none')}</p>;
  }
  return (
    <>
      <Missing timeline={timeline} t={t} />
      <Timeline timeline={timeline} t={t} />
    </>
  );
}

/** What of the cell's events is not in the picture. */
function Missing(props: { timeline: ITimeline; t: Translate }): ReactElement {
  const { timeline, t } = props;
  const { starts, kept, leftOut, whyLeftOut, tooDeep } = timeline;
  const last = cutAt(timeline);
  const sentences = [
    last === null
      ? ''
      : t('timelineFirst', {
          shown: starts.length,
          count: kept,
          time: formatSeconds(last / 1e9)
        }),
    leftOut > 0 ? t('timelineLeftOut', { count: leftOut, why: t.say(whyLeftOut ?? '?') }) : '',
    tooDeep > 0 ? t('timelineTooDeep', { count: tooDeep }) : ''
  ].filter(Boolean);
  return (
    <>
      {sentences.map((sentence, index) => (
        <p key={index} className="jp-mlgpu-Note">
          {sentence}
        </p>
      ))}
    </>
  );
}
