/** A mark for how a cell ended, with its name for screen readers. */

import type { ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import type { Outcome as OutcomeName } from '../record/record';

export function Outcome(props: { outcome: OutcomeName; t: Translate }): ReactElement {
  const { outcome, t } = props;
  return (
    <span
      className="jp-mlgpu-Icon jp-mlgpu-Outcome"
      data-outcome={outcome}
      role="img"
      aria-label={t(outcome)}
      title={t(outcome)}
    />
  );
}
