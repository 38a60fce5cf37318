/** The sidebar of the notebook in focus, with its views as tabs. */

import { startTransition, useCallback, useState, type ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import { ALL_LINES, type ILogFilter } from '../record/logrows';
import type { NotebookSession } from '../kernel/notebooks';
import { canStart, countLines, shownEntries, type IEntry } from '../kernel/state';
import { Announcer } from './Announcer';
import { CellsView } from './CellsView';
import { Header } from './Header';
import { LogView } from './LogView';
import { NowView } from './NowView';
import type { Pages } from './pages';
import type { IMissingCell } from './RecordList';
import { LastCell, RunningCell } from './RunningCell';
import { StartTracing } from './StartTracing';
import { Tabs } from './Tabs';
import { useModel } from './useModel';
import { useOwnedState } from '../receipts/useOwnedState';
import { useView } from './useView';

export function Sidebar(props: {
  session: NotebookSession | null;
  /** Pages beside the notebook; null if there is no room for them. */
  pages: Pages | null;
  t: Translate;
}): ReactElement {
  const { session, pages, t } = props;
  if (session === null) {
    return <p className="jp-mlgpu-Empty">{t('noNotebook')}</p>;
  }
  // The key resets the view's state for each notebook.
  return <NotebookView key={session.id} session={session} pages={pages} t={t} />;
}

function NotebookView(props: {
  session: NotebookSession;
  pages: Pages | null;
  t: Translate;
}): ReactElement {
  const { session, pages, t } = props;
  const state = useModel(session.model);
  const [view, setView] = useView(session);
  const [filter, setFilter] = useOwnedState<ILogFilter>(session, 'filter', ALL_LINES);
  const [missingCell, setMissingCell] = useState<IMissingCell | null>(null);
  const goTo = useCallback(
    ({ key, cellId }: Pick<IEntry, 'key' | 'cellId'>): void => {
      if (cellId === null) {
        setMissingCell({ key, why: 'cellUnknown' });
      } else {
        void session.goToCell(cellId).then(found => {
          setMissingCell(found ? null : { key, why: 'cellGone' });
        });
      }
    },
    [session]
  );
  const running = state.running.at(-1);
  const count = shownEntries(state).length;
  const blank = view === 'cells' && count === 0 && state.running.length === 0;
  return (
    <>
      <Header session={session} state={state} t={t} />
      {/* Its place is reserved while no cell runs, so that nothing below moves. */}
      {(running || state.kernel === 'live') && (
        <div className="jp-mlgpu-RunningPlace">
          {running ? (
            <RunningCell
              running={running}
              session={session}
              onGo={id => void session.goToCell(id)}
              t={t}
            />
          ) : (
            <LastCell entry={state.entries.at(-1)} onGo={goTo} t={t} />
          )}
        </div>
      )}
      <Tabs
        label={t('views')}
        tabs={[
          { id: 'now', label: t('now'), count: null },
          { id: 'cells', label: t('cells'), count },
          { id: 'logs', label: t('logs'), count: countLines(state) }
        ]}
        selected={view}
        // A long list is drawn in slices.
        onSelect={chosen => startTransition(() => setView(chosen))}
      >
        {/* If tracing is merely off, the Now view and the toolbar can turn it on beside the records. */}
        {(state.kernel === 'absent' || (blank && canStart(state))) && (
          <StartTracing
            session={session}
            state={state}
            about={t(blank ? 'cellsWillAppear' : 'kernel_absent')}
            t={t}
          />
        )}
        {view === 'logs' ? (
          <LogView
            state={state}
            filter={filter}
            onFilter={change => setFilter({ ...filter, ...change })}
            missingCell={missingCell}
            onGo={goTo}
            t={t}
          />
        ) : view === 'now' ? (
          <NowView
            session={session}
            state={state}
            onPage={pages && (() => pages.openNow(session))}
            t={t}
          />
        ) : (
          <CellsView
            session={session}
            state={state}
            missingCell={missingCell}
            onResult={pages && (figure => pages.openResult(session, figure))}
            onGo={goTo}
            onLogs={entry => {
              setFilter({ ...ALL_LINES, group: entry.key, raw: filter.raw });
              setView('logs');
            }}
            t={t}
          />
        )}
      </Tabs>
      <Announcer state={state} missingCell={missingCell?.why ?? null} t={t} />
    </>
  );
}
