/** How far the lesson in focus is: a line below its name. */

import type { ReactElement } from 'react';

import type { IProgress } from '../kernel/progress';
import type { Translate } from '../language/i18n';

export function Progress(props: { progress: IProgress; t: Translate }): ReactElement {
  const { progress, t } = props;
  const { checks, passed, predictions, predicted } = progress;
  const parts = [
    checks > 0 ? t('checksPassed', { passed, count: checks }) : null,
    predictions > 0 ? t('predictionsMade', { made: predicted, count: predictions }) : null
  ].filter(part => part !== null);
  const [first = '', second] = parts;
  return (
    <p className="jp-mlgpu-Progress" title={t('progress_about')}>
      {second === undefined ? first : t('progressBoth', { first, second })}
    </p>
  );
}
