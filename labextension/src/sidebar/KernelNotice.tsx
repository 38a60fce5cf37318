/** Why the kernel shows nothing, what it died of, and what to do about it. */

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
  // That a notebook is not traced stands beside the button that starts it, unless there is more to say.
  if (kernel === 'live' || (absent && !state.restarted && state.death === null)) {
    return null;
  }
  return (
    <div className="jp-mlgpu-Notice" data-kernel={kernel}>
      {state.death !== null && <WhyItDied death={state.death} t={t} />}
      <p>{t(absent ? 'kernelRestarted' : `kernel_${kernel}`)}</p>
      {kernel === 'silent' && <Button label={t('askAgain')} onClick={onAsk} />}
    </div>
  );
}

function WhyItDied(props: { death: IKernelExit; t: Translate }): ReactElement {
  const { death, t } = props;
  const last = death.lines.at(-1);
  const meant = last === undefined ? null : explain(last, t.messages);
  // What to do may be what the last line's message says, which is translated by its id.
  const next = death.next === last?.advice ? (meant?.advice ?? death.next) : death.next;
  return (
    <div className="jp-mlgpu-Death" data-confidence={death.confidence}>
      <p>
        <Prose text={t.say(death.sentence)} />
      </p>
      <p>
        <Prose text={t.say(next)} />
      </p>
      {last !== undefined && (
        <Fold label={t('lastLines', { count: death.lines.length })}>
          {() => (
            <>
              {death.lines.map((line, index) => (
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
