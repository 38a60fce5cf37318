/**
 * Controls for the device and the tracing of later cells, equivalent to the magics.
 *
 * They show the kernel's state. A choice made while a cell runs is pending, and a sentence says so.
 */

import { useEffect, useId, useState, type ReactElement } from 'react';

import { choiceName, picks, wordName, type IPick } from '../kernel/devicechoice';
import type { Translate } from '../language/i18n';
import type { NotebookSession } from '../kernel/notebooks';
import { whyOf, type Sentence } from '../language/sentence';
import type { IState } from '../kernel/state';
import { Prose } from '../receipts/Prose';
import { RestartOffer } from '../receipts/RestartOffer';

export function DevicePicker(props: {
  session: NotebookSession;
  state: IState;
  t: Translate;
}): ReactElement {
  const { session, state, t } = props;
  const { device, choices, tracing } = state;
  const [problem, setProblem] = useState<Sentence>('');
  const send = (type: string, content: object): void => {
    setProblem('');
    session.request(type, content).catch((error: unknown) => {
      setProblem(whyOf(error));
    });
  };
  const answer = choices?.said ?? null;
  const pending = choices?.device ?? null;
  return (
    <section className="jp-mlgpu-Picker" aria-label={t('device')}>
      {picks(device, choices).map(pick => (
        <DeviceSelect
          key={pick.framework}
          pick={pick}
          onChoose={word => send('device', { word, framework: pick.framework })}
          t={t}
        />
      ))}
      <p role="status" className="jp-mlgpu-Picker-said" data-refused={answer?.refused ?? false}>
        <Prose
          text={
            t.say(problem) ||
            (pending && t('applies', { device: wordName(pending.word, t) })) ||
            t.say(answer?.sentence ?? '')
          }
        />
      </p>
      {answer?.restart && <RestartOffer hint={answer.restart} session={session} t={t} />}
      {tracing !== null && (
        <label className="jp-mlgpu-Switch">
          <input
            type="checkbox"
            checked={choices?.trace ?? tracing}
            onChange={event => send('trace', { on: event.target.checked })}
          />
          {t('traceCells')}
          {typeof choices?.trace === 'boolean' && (
            <span className="jp-mlgpu-Quiet">{t('traceApplies')}</span>
          )}
        </label>
      )}
    </section>
  );
}

export function DeviceSelect(props: {
  pick: IPick;
  onChoose: (word: string) => void;
  t: Translate;
}): ReactElement {
  const { pick, onChoose, t } = props;
  const id = useId();
  // The new choice is shown until the kernel confirms it.
  const [sent, setSent] = useState<string | null>(null);
  const { chosen, missing, name, words } = pick;
  useEffect(() => {
    const timer = setTimeout(() => setSent(null), sent === chosen ? 0 : CONFIRMATION_LIMIT);
    return () => clearTimeout(timer);
  }, [sent, chosen]);
  return (
    <div className="jp-mlgpu-Picker-device">
      <label htmlFor={id}>{name === null ? t('chooseDevice') : `${t('device')}, ${name}`}</label>
      <select
        id={id}
        className="jp-mlgpu-Input"
        value={sent ?? chosen}
        onChange={event => {
          setSent(event.target.value);
          onChoose(event.target.value);
        }}
      >
        {words.map(choice => (
          <option key={choice.word} value={choice.word}>
            {choiceName(choice, t)}
          </option>
        ))}
      </select>
      {missing.map((why, index) => (
        <p key={index} className="jp-mlgpu-Quiet jp-mlgpu-Picker-said">
          <Prose text={t.say(why)} />
        </p>
      ))}
    </div>
  );
}

/** Milliseconds after which an unconfirmed choice is no longer shown. */
const CONFIRMATION_LIMIT = 2_000;
