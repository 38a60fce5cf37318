/** The doctor's check of the kernel's set-up: a button, and the findings with their remedies. */

import { useState, type ReactElement } from 'react';

import type { IDoctor, ILightDiagnosis, ILightFinding } from '../kernel/messages';
import type { Translate } from '../language/i18n';
import type { NotebookSession } from '../kernel/notebooks';
import { whyOf, type Sentence } from '../language/sentence';
import { CopyButton } from '../receipts/CopyButton';
import { Button } from '../receipts/controls';
import { Prose } from '../receipts/Prose';

export function Doctor(props: {
  doctor: IDoctor | null;
  session: NotebookSession;
  t: Translate;
}): ReactElement {
  const { doctor, session, t } = props;
  const [refused, setRefused] = useState<Sentence | null>(null);
  const asking = doctor?.asking ?? false;
  const found = doctor?.found ?? null;
  const ask = (): void => {
    setRefused(null);
    session.request('doctor').catch((error: unknown) => setRefused(whyOf(error)));
  };
  const problem = refused ?? doctor?.problem ?? null;
  const message = asking
    ? t('doctorAsking')
    : (problem ?? (found === null ? t('doctorUnasked') : found.head));
  return (
    <section className="jp-mlgpu-Doctor" aria-label={t('doctor')} aria-busy={asking}>
      <h3>{t('doctor')}</h3>
      <p role="status">
        {found !== null && !asking && problem === null && <Light found={found} />}
        <Prose text={t.say(message)} />
      </p>
      {found !== null && !asking && problem === null && <Findings found={found} t={t} />}
      <Button
        label={t(found === null && problem === null ? 'askDoctor' : 'askAgain')}
        disabled={asking}
        onClick={ask}
      />
    </section>
  );
}

/** A tick or an exclamation mark; the text says the same. */
function Light(props: { found: ILightDiagnosis }): ReactElement {
  const well = props.found.findings.length === 0;
  return (
    <svg
      className="jp-mlgpu-Doctor-light"
      data-well={well}
      width="14"
      height="14"
      viewBox="0 0 14 14"
      aria-hidden="true"
    >
      <path d={well ? 'M2 7.5l3.5 3.5L12 3.5' : 'M7 2v6M7 10.5v1.5'} />
    </svg>
  );
}

function Findings(props: { found: ILightDiagnosis; t: Translate }): ReactElement {
  const { found, t } = props;
  return (
    <>
      {found.findings.length > 0 && (
        <ol>
          {found.findings.map((one, index) => (
            <Finding key={index} finding={one} t={t} />
          ))}
        </ol>
      )}
      {found.more > 0 && <p>{t('doctorMore', { count: found.more })}</p>}
      <p className="jp-mlgpu-Quiet">{t('doctorDeep')}</p>
    </>
  );
}

function Finding(props: { finding: ILightFinding; t: Translate }): ReactElement {
  const { id, title, evidence, remedy, confidence } = props.finding;
  const { t } = props;
  const sure = confidence === null ? '' : `${t.say(confidence)}; `;
  return (
    <li>
      <strong>{t.say(title)}</strong> <small>{`(${sure}${id})`}</small>
      <p>
        <Prose text={`${t('doctorKnows')} ${t.say(evidence)}`} />
      </p>
      <p>{t('doctorAdvises')}</p>
      <pre tabIndex={0}>{remedy}</pre>
      <CopyButton text={remedy} t={t} />
    </li>
  );
}
