/** How a cell ended: a mark, and the same in words for those who do not see it. */

import type { ReactElement } from 'react';

import type { Translate } from '../i18n';
import type { Outcome as OutcomeName } from '../record';
import { Check, Close, Stop } from './icons';

const ICONS = { ok: Check, error: Close, interrupted: Stop };

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
      <Icon />
    </span>
  );
}
