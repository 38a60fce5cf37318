/** What a restart costs and does, before it is done. */

import type { ReactElement } from 'react';

import type { Translate } from '../language/i18n';

export function RestartQuestion(props: {
  /** Code cells that run again. */
  count: number;
  busy: boolean;
  verbose: string | null;
  t: Translate;
}): ReactElement {
  const { count, busy, verbose, t } = props;
  return (
    <div className="jp-mlgpu-Question">
      <p>{t('restartLoses')}</p>
      {busy && (
        <p>
          <strong>{t('restartStops')}</strong>
        </p>
      )}
      {verbose !== null && (
        <p>
          {t('restartSets')} <code>{`%mlc_trace verbose ${verbose}`}</code>
        </p>
      )}
      <p>{t('restartRuns', { count })}</p>
    </div>
  );
}
