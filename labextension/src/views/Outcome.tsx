/** How a cell ended: a mark, and the same in words for those who do not see it. */

import { checkIcon, closeIcon, stopIcon } from '@jupyterlab/ui-components';
import type { ReactElement } from 'react';

import type { Translate } from '../i18n';
import type { Outcome as OutcomeName } from '../record';

const ICONS = { ok: checkIcon, error: closeIcon, interrupted: stopIcon };

export function Outcome(props: { outcome: OutcomeName; t: Translate }): ReactElement {
  const { outcome, t } = props;
  const Icon = ICONS[outcome];
  return (
    <span
      className="jp-mlgpu-Outcome"
      data-outcome={outcome}
      role="img"
      aria-label={t(outcome)}
      title={t(outcome)}
    >
      <Icon.react tag="span" />
    </span>
  );
}
