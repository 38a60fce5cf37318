/** Why the kernel shows nothing, and what to do about it. */

import type { ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import type { IState } from '../kernel/state';
import { LOAD_LINE } from '../kernel/protocol';
import { LineToCopy } from '../receipts/LineToCopy';
import { Button } from '../receipts/controls';

export function KernelNotice(props: {
  state: IState;
  onAsk: () => void;
  t: Translate;
}): ReactElement | null {
  const { state, onAsk, t } = props;
  const { kernel } = state;
  if (kernel === 'live') {
    return null;
  }
  const restarted = kernel === 'absent' && state.restarted;
  return (
    <div className="jp-mlgpu-Notice" data-kernel={kernel}>
      <p>{t(restarted ? 'kernelRestarted' : `kernel_${kernel}`)}</p>
      {kernel === 'absent' && <LineToCopy text={LOAD_LINE} t={t} />}
      {kernel === 'silent' && <Button label={t('askAgain')} onClick={onAsk} />}
    </div>
  );
}
