/** What can be done with the records that are selected; nothing is seen while none is. */

import type { ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import { Button } from '../receipts/controls';

export function Selection(props: {
  count: number;
  onCompare: () => void;
  onClear: () => void;
  t: Translate;
}): ReactElement {
  const { count, onCompare, onClear, t } = props;
  return (
    <div className="jp-mlgpu-Selection" data-count={count}>
      <span role={count > 0 ? 'status' : undefined}>
        {count === 1 && t('selectAnother')}
        {count === 2 && t('twoSelected')}
      </span>
      {count === 2 && <Button look="Button" label={t('compare')} onClick={onCompare} />}
      {count > 0 && <Button label={t('clearSelection')} onClick={onClear} />}
    </div>
  );
}
