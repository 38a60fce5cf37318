/** Why a restart is needed, and a button for it if there is a kernel to restart. */

import { useId, type ReactElement } from 'react';

import type { Message, Translate } from '../language/i18n';
import type { IRestartHint } from '../kernel/restart';
import type { IFailure } from './providers';
import { Prose } from './Prose';

export function RestartNotice(props: {
  hint: IRestartHint | null;
  /** The button's label; by default it says that cells run up to the one above it. */
  label?: string;
  /** Why the button is missing (`elsewhere`) or disabled; null if it can be pressed. */
  obstacle: Message | 'elsewhere' | null;
  progress: 'restarting' | IFailure | null;
  onRestart: () => void;
  t: Translate;
}): ReactElement {
  const { hint, label, obstacle, progress, onRestart, t } = props;
  const reason = useId();
  if (hint === null) {
    return <p className="jp-mlgpu-Restart jp-mlgpu-Quiet">{t('invalidRestart')}</p>;
  }
  const restarting = progress === 'restarting';
  return (
    <div className="jp-mlgpu-Restart">
      <p>
        <Prose text={t.say(hint.sentence)} />
      </p>
      {obstacle === 'elsewhere' ? (
        <p>
          <Prose text={t.say(hint.byHand)} />
        </p>
      ) : (
        <div className="jp-mlgpu-Restart-act">
          <button
            type="button"
            className="jp-mlgpu-Button"
            aria-disabled={obstacle !== null || restarting}
            aria-describedby={reason}
            onClick={obstacle === null && !restarting ? onRestart : undefined}
          >
            {label ?? t('restart')}
          </button>
          <span id={reason} role="status">
            {statusText(obstacle, progress, t)}
          </span>
        </div>
      )}
    </div>
  );
}

function statusText(
  obstacle: Message | null,
  progress: 'restarting' | IFailure | null,
  t: Translate
): string {
  if (progress === 'restarting') {
    return t('restarting');
  }
  if (progress !== null) {
    return t(progress.message, { why: progress.why });
  }
  return obstacle === null ? '' : t(obstacle);
}
