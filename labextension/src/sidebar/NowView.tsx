/** What the kernel does now: its device, whether cells are traced, and what the machine is at. */

import type { ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import type { NotebookSession } from '../kernel/notebooks';
import type { IState } from '../kernel/state';
import { frameworkName } from '../record/words';
import { DevicePicker } from './DevicePicker';
import { Doctor } from './Doctor';
import { Gauges, useChartSoon } from './Gauges';

/** A name is the same in both languages. */
const PYTHON = 'Python';

export function NowView(props: {
  session: NotebookSession;
  state: IState;
  t: Translate;
}): ReactElement {
  const { session, state, t } = props;
  useChartSoon();
  if (state.kernel !== 'live') {
    return <p className="jp-mlgpu-Empty">{t('notLive')}</p>;
  }
  return (
    <div className="jp-mlgpu-Now">
      <DevicePicker session={session} state={state} t={t} />
      <Frameworks state={state} t={t} />
      <Gauges session={session} t={t} />
      <Doctor doctor={state.doctor} session={session} t={t} />
    </div>
  );
}

function Frameworks(props: { state: IState; t: Translate }): ReactElement {
  const { state, t } = props;
  const { device, python } = state;
  const frameworks = device?.frameworks ?? [];
  return (
    <dl className="jp-mlgpu-Status">
      <dt>{t('frameworks')}</dt>
      <dd>
        {frameworks.length === 0 && t('noFramework')}
        {frameworks.map(({ name, versions }) => (
          <div key={name}>
            {versions.length === 0
              ? frameworkName(name)
              : versions.map(([part, version]) => `${frameworkName(part)} ${version}`).join(', ')}
          </div>
        ))}
      </dd>
      {python !== null && (
        <>
          <dt>{PYTHON}</dt>
          <dd>{python}</dd>
        </>
      )}
    </dl>
  );
}
