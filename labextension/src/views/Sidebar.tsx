/**
 * The sidebar: what the focused notebook's kernel does now, and the records of its cells.
 */

import { useCallback, useState, useSyncExternalStore } from 'react';
import type { ReactElement } from 'react';

import type { Translate } from '../i18n';
import { ALL_LINES } from '../logrows';
import type { ILogFilter } from '../logrows';
import type { KernelModel } from '../model';
import type { NotebookSession } from '../notebooks';
import { countLines, shownEntries } from '../state';
import type { IEntry, IState } from '../state';
import { Announcer } from './Announcer';
import { CellsView } from './CellsView';
import { Header } from './Header';
import { LogView } from './LogView';
import { NowView } from './NowView';
import type { ILost } from './RecordList';
import { RunningCell } from './RunningCell';
import { Tabs } from './Tabs';
import { useKept } from './useKept';
import { useView } from './useView';

export function Sidebar(props: { session: NotebookSession | null; t: Translate }): ReactElement {
  const { session, t } = props;
  if (session === null) {
    return <p className="jp-mlgpu-Empty">{t('noNotebook')}</p>;
  }
  // A key a notebook: what is open or selected in one must not appear in the next.
  return <NotebookView key={session.id} session={session} t={t} />;
}

function NotebookView(props: { session: NotebookSession; t: Translate }): ReactElement {
  const { session, t } = props;
  const state = useModel(session.model);
  const [view, setView] = useView(session);
  const [filter, setFilter] = useKept<ILogFilter>(session, 'filter', ALL_LINES);
  const [lost, setLost] = useState<ILost | null>(null);
  const goTo = useCallback(
    ({ key, cellId }: Pick<IEntry, 'key' | 'cellId'>): void => {
      if (cellId === null) {
        setLost({ key, why: 'cellUnknown' });
      } else {
        void session.goToCell(cellId).then(found => {
          setLost(found ? null : { key, why: 'cellGone' });
        });
      }
    },
    [session]
  );
  const running = state.running.at(-1);
  const count = shownEntries(state).length;
  return (
    <>
      <Header session={session} state={state} t={t} />
      {running && <RunningCell running={running} onGo={id => void session.goToCell(id)} t={t} />}
      <Tabs
        label={t('views')}
        tabs={[
          { id: 'now', label: t('now'), count: 0 },
          { id: 'cells', label: t('cells'), count },
          { id: 'logs', label: t('logs'), count: countLines(state) }
        ]}
        selected={view}
        onSelect={setView}
      >
        {view === 'logs' ? (
          <LogView
            state={state}
            filter={filter}
            onFilter={change => setFilter({ ...filter, ...change })}
            lost={lost}
            onGo={goTo}
            t={t}
          />
        ) : view === 'now' ? (
          <NowView session={session} state={state} t={t} />
        ) : (
          <CellsView
            session={session}
            state={state}
            lost={lost}
            onGo={goTo}
            onLogs={entry => {
              setFilter({ ...ALL_LINES, group: entry.key, raw: filter.raw });
              setView('logs');
            }}
            t={t}
          />
        )}
      </Tabs>
      <Announcer state={state} lost={lost?.why ?? null} t={t} />
    </>
  );
}

function useModel(model: KernelModel): IState {
  const subscribe = useCallback(
    (onChange: () => void) => {
      model.stateChanged.connect(onChange);
      return () => void model.stateChanged.disconnect(onChange);
    },
    [model]
  );
  return useSyncExternalStore(subscribe, () => model.state);
}
