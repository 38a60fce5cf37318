/** What limits a cell, what to do about it, and what that rests on. */

import type { ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import { answer, commandsIn } from '../record/limits';
import type { IRecord } from '../record/record';
import { Fold } from './Fold';
import { LineToCopy } from './LineToCopy';
import { Readings } from './RecordDetails';
import { Prose } from './Prose';

export function LimitAnswer(props: { record: IRecord; t: Translate }): ReactElement | null {
  const { record, t } = props;
  const { limit } = record;
  if (limit === null) {
    return null;
  }
  const advice = limit.next === null ? '' : t.say(limit.next);
  return (
    <div role="group" className="jp-mlgpu-Limit" aria-label={t('limit')}>
      <p className="jp-mlgpu-Limit-answer">{answer(limit, t)}</p>
      {advice && (
        <p>
          <Prose text={advice} />
        </p>
      )}
      {commandsIn(advice).map(command => (
        <LineToCopy key={command} text={command} t={t} />
      ))}
      {limit.evidence.length > 0 && (
        <Fold label={t('limitEvidence')}>
          {() => (
            <div className="jp-mlgpu-Details">
              <Readings
                label={t('limitEvidence')}
                readings={limit.evidence}
                record={record}
                t={t}
              />
            </div>
          )}
        </Fold>
      )}
    </div>
  );
}
