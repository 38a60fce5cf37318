/** The page of one record: all that was measured in its cell, and how. */

import type { ReactElement } from 'react';

import type { Translate } from '../i18n';
import type { NotebookSession } from '../notebooks';
import type { IEntry } from '../state';
import { RecordDetails } from './RecordDetails';
import { CellName } from './RunningCell';

export function CellPage(props: {
  entry: IEntry;
  session: NotebookSession;
  onBack: () => void;
  onGo: (entry: IEntry) => void;
  /** Show its lines among the logs. */
  onLogs: (entry: IEntry) => void;
  t: Translate;
}): ReactElement {
  const { entry, onBack, onGo, t } = props;
  return (
    <section className="jp-mlgpu-Page" aria-label={t('details')}>
      <div className="jp-mlgpu-Page-head">
        <button type="button" className="jp-mlgpu-TextButton" onClick={onBack}>
          {t('backToCells')}
        </button>
        <button
          type="button"
          className="jp-mlgpu-Go"
          title={t('goToCell')}
          onClick={() => onGo(entry)}
        >
          <CellName cell={entry.record.cell} />
        </button>
      </div>
      <RecordDetails record={entry.record} t={t} />
    </section>
  );
}
