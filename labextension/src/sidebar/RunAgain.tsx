/** The offer to run two compared cells a few more times, for a reliable comparison. */

import { useState, type ReactElement, type ReactNode } from 'react';

import type { Message, Translate } from '../language/i18n';
import type { NotebookSession } from '../kernel/notebooks';
import type { IRecord } from '../record/record';

/** Number of additional runs of each cell, enough for a confidence interval. */
const MORE = 4;

export function RunAgain(props: {
  records: readonly IRecord[];
  session: NotebookSession;
  /** Called with the number of runs made, whose records follow. */
  onRan: (runs: number) => void;
  /** Content while nothing is run from here. */
  children: ReactNode;
  t: Translate;
}): ReactElement {
  const { records, session, onRan, children, t } = props;
  const [run, setRun] = useState(0);
  const [message, setMessage] = useState<Message | null>(null);
  const start = async (): Promise<void> => {
    const again = session.again(records);
    if (run > 0 || again === null) {
      setMessage(again === null ? 'cannotRunMore' : message);
      return;
    }
    setMessage(null);
    let made = 0;
    const well = await again(MORE, number => setRun((made = number)));
    setRun(0);
    setMessage(well ? null : 'runMoreStopped');
    onRan(well ? made : 0);
  };
  if (run === 0 && session.again(records) === null) {
    return (
      <>
        <p className="jp-mlgpu-Quiet">{t('cannotRunMore')}</p>
        {children}
      </>
    );
  }
  return (
    <>
      {run === 0 && children}
      <p className="jp-mlgpu-RunAgain">
        <button
          type="button"
          className="jp-mlgpu-Button"
          title={t('runMoreAbout')}
          aria-disabled={run > 0}
          onClick={() => void start()}
        >
          {t('runMore', { count: MORE })}
        </button>{' '}
        <span className="jp-mlgpu-Quiet" role="status">
          {run > 0 ? t('runningMore', { number: run }) : message && t(message)}
        </span>
      </p>
    </>
  );
}
