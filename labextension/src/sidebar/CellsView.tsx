/** The records of a notebook: the list, the page of one record, or the comparison of two. */

import { useCallback, useState, type ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import type { NotebookSession } from '../kernel/notebooks';
import type { IFigure } from '../kernel/savedfigures';
import { shownEntries, type IEntry, type IState } from '../kernel/state';
import { CellPage } from './CellPage';
import { ComparisonPage } from './ComparisonPage';
import { NotebookAnswer } from './NotebookAnswer';
import { RecordList, type IMissingCell } from './RecordList';
import { Results } from './Results';
import { Button } from '../receipts/controls';
import { useOwnedState } from '../receipts/useOwnedState';

/** Largest number of selected records. */
const MOST_SELECTED = 2;

export function CellsView(props: {
  session: NotebookSession;
  state: IState;
  missingCell: IMissingCell | null;
  /** Opens a result as a page; null if there is no room for one. */
  onResult: ((figure: IFigure) => void) | null;
  onGo: (entry: IEntry) => void;
  onLogs: (entry: IEntry) => void;
  t: Translate;
}): ReactElement {
  const { session, state, missingCell, onResult, onGo, onLogs, t } = props;
  const [opened, setOpened] = useOwnedState<string | null>(session, 'opened', null);
  const [selection, setSelection] = useOwnedState<readonly string[]>(session, 'selection', []);
  const [comparing, setComparing] = useOwnedState(session, 'comparing', false);
  // Record that gets the focus when its page is closed.
  const [left, setLeft] = useState<string | null>(null);
  const forget = useCallback(() => setLeft(null), []);
  const entries = shownEntries(state);
  const find = (key: string): IEntry | undefined => entries.find(entry => entry.key === key);
  const entry = opened === null ? undefined : find(opened);
  if (entry) {
    return (
      <CellPage
        entry={entry}
        session={session}
        onBack={() => {
          setLeft(entry.key);
          setOpened(null);
        }}
        onGo={onGo}
        onLogs={onLogs}
        t={t}
      />
    );
  }
  // Records that were cleared, or belong to an earlier kernel, are no longer selected.
  const selected = selection.map(find).filter(one => one !== undefined);
  const [one, other] = selected;
  if (comparing && one && other) {
    const [a, b] = other.record.startedAt < one.record.startedAt ? [other, one] : [one, other];
    return (
      <ComparisonPage
        a={a}
        b={b}
        session={session}
        state={state}
        onBack={() => {
          setLeft(b.key);
          setComparing(false);
        }}
        onGo={onGo}
        t={t}
      />
    );
  }
  const results = <Results session={session} figures={state.figures} onOpen={onResult} t={t} />;
  return entries.length > 0 ? (
    <>
      <NotebookAnswer session={session} state={state} t={t} />
      {results}
      <RecordList
        session={session}
        entries={entries}
        older={state.older}
        run={state.run}
        missingCell={missingCell}
        selected={selected.map(({ key }) => key)}
        focus={left}
        onFocused={forget}
        onGo={onGo}
        onLogs={onLogs}
        onOpen={({ key }) => setOpened(key)}
        onSelect={({ key }) => {
          const before = selected.map(one => one.key);
          const others = before.filter(one => one !== key);
          setSelection(
            others.length < before.length ? others : [...others, key].slice(-MOST_SELECTED)
          );
        }}
        t={t}
      >
        <Selection
          count={selected.length}
          onCompare={() => setComparing(true)}
          onClear={() => setSelection([])}
          t={t}
        />
      </RecordList>
    </>
  ) : (
    <>
      {results}
      <p className="jp-mlgpu-Empty">{emptyText(state, t)}</p>
    </>
  );
}

function emptyText(state: IState, t: Translate): string {
  const waits = state.kernel === 'live' && state.tracing !== false && state.running.length === 0;
  return waits ? t('noRecords') : '';
}

/** Actions on the selected records. */
function Selection(props: {
  count: number;
  onCompare: () => void;
  onClear: () => void;
  t: Translate;
}): ReactElement {
  const { count, onCompare, onClear, t } = props;
  return (
    <div className="jp-mlgpu-Selection" data-count={count}>
      <span role={count > 0 ? 'status' : undefined}>
        {count === 1 && t('selectAnother')}
        {count === 2 && t('twoSelected')}
      </span>
      {count === 2 && <Button variant="Button" label={t('compare')} onClick={onCompare} />}
      {count > 0 && <Button label={t('clearSelection')} onClick={onClear} />}
    </div>
  );
}
