/**
 * The sidebar: what the focused notebook's kernel does now, and the records of its cells.
 */

import { startTransition, useCallback, useState, useSyncExternalStore } from 'react';
import type { ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import { ALL_LINES } from '../record/logrows';
import type { ILogFilter } from '../record/logrows';
import type { KernelModel } from '../kernel/model';
import type { NotebookSession } from '../kernel/notebooks';
import { coalesced } from '../record/slices';
import { countLines, shownEntries } from '../kernel/state';
import type { IEntry, IState } from '../kernel/state';
import { Announcer } from './Announcer';
import { CellsView } from './CellsView';
import { FiguresView, figuresName } from './FiguresView';
import { Header } from './Header';
import { LogView } from './LogView';
import { NowView } from './NowView';
import type { ILost } from './RecordList';
import { RunningCell } from './RunningCell';
import { Tabs } from './Tabs';
import { useOwnedState } from '../receipts/useOwnedState';
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
  const { figures } = state;
  const [chosenView, setView] = useView(session);
  const [figure, setFigure] = useOwnedState<string | null>(session, 'figure', null);
  const [filter, setFilter] = useOwnedState<ILogFilter>(session, 'filter', ALL_LINES);
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
  const view = chosenView === 'figures' && figures.length === 0 ? 'cells' : chosenView;
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
          { id: 'logs', label: t('logs'), count: countLines(state) },
          ...(figures.length > 0
            ? [{ id: 'figures' as const, label: figuresName(figures, t), count: figures.length }]
            : [])
        ]}
        selected={view}
        // A long list is drawn in slices.
        onSelect={chosen => startTransition(() => setView(chosen))}
      >
        {view === 'figures' ? (
          <FiguresView
            figures={figures}
            selected={figure}
            onChoose={setFigure}
            onGo={({ cellId }) => void session.goToCell(cellId)}
            t={t}
          />
        ) : view === 'logs' ? (
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
      // Drawn in a task of its own, and once for all that came until then.
      const changed = coalesced(onChange);
      model.stateChanged.connect(changed);
      return () => void model.stateChanged.disconnect(changed);
    },
    [model]
  );
  return useSyncExternalStore(subscribe, () => model.state);
}
