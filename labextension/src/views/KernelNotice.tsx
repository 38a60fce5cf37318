/** Why the kernel shows nothing, and what to do about it. */

import type { ReactElement } from 'react';

import type { Message, Translate } from '../i18n';
import type { IState, KernelState } from '../state';
import { LOAD_LINE } from '../protocol';
import { CopyButton } from './CopyButton';

const SENTENCES: Record<Exclude<KernelState, 'live'>, Message> = {
  none: 'kernelNone',
  asking: 'kernelAsking',
  other: 'kernelOther',
  absent: 'kernelAbsent',
  silent: 'kernelSilent',
  dead: 'kernelDead'
};

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
      <p>{t(restarted ? 'kernelRestarted' : SENTENCES[kernel])}</p>
      {kernel === 'absent' && <LineToCopy text={LOAD_LINE} t={t} />}
      {kernel === 'silent' && (
        <button type="button" className="jp-mlgpu-TextButton" onClick={onAsk}>
          {t('askAgain')}
        </button>
      )}
    </div>
  );
}

function LineToCopy(props: { text: string; t: Translate }): ReactElement {
  const { text, t } = props;
  return (
    <div className="jp-mlgpu-LineToCopy">
      <code>{text}</code>
      <CopyButton text={text} t={t} />
    </div>
  );
}
