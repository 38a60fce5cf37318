/** Why a kernel died, what to do, and its last messages. */

import type { ReactElement } from 'react';

import { explain } from '../language/explain';
import type { Translate } from '../language/i18n';
import type { IKernelExit } from '../kernel/kernelexit';
import { Fold } from './Fold';
import { RawLine } from './LogLine';
import { Prose } from './Prose';

export function ExitCause(props: { exit: IKernelExit; t: Translate }): ReactElement {
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
