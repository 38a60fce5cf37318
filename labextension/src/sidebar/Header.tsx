/** The notebook's name, its progress if it is a lesson, and a notice if its kernel shows nothing. */

import type { ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import type { NotebookSession } from '../kernel/notebooks';
import type { IState } from '../kernel/state';
import { KernelNotice } from './KernelNotice';
import type { IProgress } from '../kernel/progress';
import { useSignal } from '../receipts/useSignal';

export function Header(props: {
  session: NotebookSession;
  state: IState;
  t: Translate;
}): ReactElement {
  const { session, state, t } = props;
  // The notebook may be renamed while it is open.
  const name = useSignal(session.renamed, () => session.name);
  return (
    <div className="jp-mlgpu-Header">
      <h2 className="jp-mlgpu-Notebook" title={name}>
        {name}
      </h2>
      {state.progress && <Progress progress={state.progress} t={t} />}
      <KernelNotice state={state} onAsk={() => session.ask()} t={t} />
    </div>
  );
}

/** The progress of a lesson. */
function Progress(props: { progress: IProgress; t: Translate }): ReactElement {
  const { progress, t } = props;
  const { checks, passed, predictions, predicted } = progress;
  const parts = [
    checks > 0 ? t('checksPassed', { passed, count: checks }) : null,
    predictions > 0 ? t('predictionsMade', { made: predicted, count: predictions }) : null
  ].filter(part => part !== null);
  const [first = '', second] = parts;
  return (
    <p className="jp-mlgpu-Progress" title={t('progress_about')}>
      {second === undefined ? first : t('progressBoth', { first, second })}
    </p>
  );
}
