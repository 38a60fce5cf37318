/** Why the kernel shows nothing, its exit cause, and the remedy. */

import type { ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import type { IState } from '../kernel/state';
import { Button } from '../receipts/controls';
import { ExitCause } from '../receipts/ExitCause';

export function KernelNotice(props: {
  state: IState;
  onAsk: () => void;
  t: Translate;
}): ReactElement | null {
  const { state, onAsk, t } = props;
  const { kernel, exit } = state;
  const live = kernel === 'live';
  const absent = kernel === 'absent';
  // Beside the button that starts tracing, a notice is only needed after a restart or an exit.
  if (exit === null && (live || (absent && !state.restarted))) {
    return null;
  }
  return (
    <div className="jp-mlgpu-Notice" data-kernel={kernel}>
      {exit !== null && <ExitCause exit={exit} t={t} />}
      {!live && <p>{t(absent ? 'kernelRestarted' : `kernel_${kernel}`)}</p>}
      {kernel === 'silent' && <Button label={t('askAgain')} onClick={onAsk} />}
    </div>
  );
}
