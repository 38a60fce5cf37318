/** The Now view: device, tracing, and live counters of the kernel. */

import { useEffect, useState, type ReactElement } from 'react';

import { nextTask } from '../record/slices';
import type { Translate } from '../language/i18n';
import type { Machine } from '../kernel/machine';
import type { NotebookSession } from '../kernel/notebooks';
import type { IState } from '../kernel/state';
import { frameworkName, versionsInWords } from '../record/words';
import { DevicePicker } from './DevicePicker';
import { Doctor } from './Doctor';
import { Button } from '../receipts/controls';
import { Gauges } from './Gauges';
import { TraceAlways } from './StartTracing';
import { useSignal } from '../receipts/useSignal';

/** Not translated. */
const PYTHON = 'Python';

export function NowView(props: {
  session: NotebookSession;
  state: IState;
  /** Opens the same view as a page; null if this is that page, or there is no room for one. */
  onPage: (() => void) | null;
  t: Translate;
}): ReactElement {
  const { session, state, onPage, t } = props;
  const later = useLater();
  if (state.kernel !== 'live') {
    return <MachineNow machine={session.machine} hasKernel={state.kernel !== 'none'} t={t} />;
  }
  return (
    <div className="jp-mlgpu-Now">
      {onPage && <Button label={t('openAsPage')} onClick={onPage} />}
      <DevicePicker session={session} state={state} t={t} />
      <TraceAlways session={session} t={t} />
      <Frameworks state={state} t={t} />
      {later && (
        <>
          <Gauges of={session} state={state} whenLate="numbersStay" t={t} />
          <Doctor doctor={state.doctor} session={session} t={t} />
        </>
      )}
    </div>
  );
}

/** The server machine's counters, until a kernel sends its own. */
function MachineNow(props: { machine: Machine; hasKernel: boolean; t: Translate }): ReactElement {
  const { machine, hasKernel, t } = props;
  const unknown = useSignal(machine.unknownChanged, () => machine.isUnknown);
  if (unknown) {
    return <p className="jp-mlgpu-Empty">{t(hasKernel ? 'notLive' : 'needsKernel')}</p>;
  }
  return (
    <div className="jp-mlgpu-Now">
      <p className="jp-mlgpu-Quiet">{t('machineOfServer')}</p>
      <Gauges of={machine} state={null} whenLate="serverNumbersStay" t={t} />
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
            {versions.length === 0 ? frameworkName(name) : versionsInWords(versions)}
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

/** Return false for the first drawing, and true from the next task on. */
function useLater(): boolean {
  const [later, setLater] = useState(false);
  useEffect(() => {
    void nextTask().then(() => setLater(true));
  }, []);
  return later;
}
