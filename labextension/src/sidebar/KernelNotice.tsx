/** Why the kernel shows nothing, its exit cause, and the remedy. */

import type { ReactElement } from 'react';

import { explain } from '../language/explain';
import type { Translate } from '../language/i18n';
import type { IKernelExit } from '../kernel/kernelexit';
import type { IState } from '../kernel/state';
import { Fold } from '../receipts/Fold';
import { RawLine } from '../receipts/LogLine';
import { Button } from '../receipts/controls';
import { Prose } from '../receipts/Prose';

export function KernelNotice(props: {
  state: IState;
  onAsk: () => void;
  t: Translate;
}): ReactElement | null {
  const { state, onAsk, t } = props;
  const { kernel } = state;
  const absent = kernel === 'absent';
  // Beside the button that starts tracing, a notice is only needed after a restart or an exit.
  if (kernel === 'live' || (absent && !state.restarted && state.exit === null)) {
    return null;
  }
  return (
    <div className="jp-mlgpu-Notice" data-kernel={kernel}>
      {state.exit !== null && <ExitCause exit={state.exit} t={t} />}
      <p>{t(absent ? 'kernelRestarted' : `kernel_${kernel}`)}</p>
      {kernel === 'silent' && <Button label={t('askAgain')} onClick={onAsk} />}
    </div>
  );
}

function ExitCause(props: { exit: IKernelExit; t: Translate }): ReactElement {
  const { exit, t } = props;
  const last = exit.lines.at(-1);
  const meant = last === undefined ? null : explain(last, t.messages);
  // If the advice is that of the last line's message, its translation is found by the message's id.
  const next = exit.next === last?.advice ? (meant?.advice ?? exit.next) : exit.next;
  return (
    <div className="jp-mlgpu-Death" data-confidence={exit.confidence}>
      <p>
        <Prose text={t.say(exit.sentence)} />
      </p>
      <p>
        <Prose text={t.say(next)} />
      </p>
      {last !== undefined && (
        <Fold label={t('lastLines', { count: exit.lines.length })}>
          {() => (
            <>
              {exit.lines.map((line, index) => (
                <RawLine key={index} line={line} t={t} />
              ))}
              <p className="jp-mlgpu-Meaning">{meant?.meaning ?? t('notKnownLine')}</p>
            </>
          )}
        </Fold>
      )}
    </div>
  );
}
