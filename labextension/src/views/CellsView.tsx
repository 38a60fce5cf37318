/** The records of a notebook: the list of them, or the page of the one that was opened. */

import type { ReactElement } from 'react';

import type { Translate } from '../i18n';
import type { NotebookSession } from '../notebooks';
import { shownEntries } from '../state';
import type { IEntry, IState } from '../state';
import { CellPage } from './CellPage';
import { RecordList } from './RecordList';
import type { ILost } from './RecordList';
import { useKept } from './useKept';

export function CellsView(props: {
  session: NotebookSession;
  state: IState;
  lost: ILost | null;
  onGo: (entry: IEntry) => void;
  onLogs: (entry: IEntry) => void;
  t: Translate;
}): ReactElement {
  const { session, state, lost, onGo, onLogs, t } = props;
  const [opened, setOpened] = useKept<string | null>(session, 'opened', null);
  const entries = shownEntries(state);
  const entry = opened === null ? undefined : entries.find(({ key }) => key === opened);
  if (entry) {
    return (
      <CellPage
        entry={entry}
        session={session}
        onBack={() => setOpened(null)}
        onGo={onGo}
        onLogs={onLogs}
        t={t}
      />
    );
  }
  return entries.length > 0 ? (
    <RecordList
      entries={entries}
      older={state.older}
      lost={lost}
      onGo={onGo}
      onLogs={onLogs}
      onOpen={({ key }) => setOpened(key)}
      t={t}
    />
  ) : (
    <p className="jp-mlgpu-Empty">{emptyText(state, t)}</p>
  );
}

function emptyText(state: IState, t: Translate): string {
  if (state.kernel !== 'live' || state.running.length > 0) {
    return '';
  }
  return state.tracing === false ? t('noRecordsTracingOff') : t('noRecords');
}
