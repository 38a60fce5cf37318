/** The list of records, sorted and grouped. Only visible rows are in the page. */

import {
  useCallback,
  useDeferredValue,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useSyncExternalStore
} from 'react';
import type { ReactElement } from 'react';

import {
  ALL_RECORDS,
  causesOf,
  devicesOf,
  orderOf,
  rowsOf,
  runsByCell,
  select,
  trendOf,
  trendOfRepeat
} from '../record/cellrows';
import type { IRecordFilter } from '../record/cellrows';
import { formatFigure } from '../record/cellwords';
import type { Message, Translate } from '../language/i18n';
import type { NotebookSession } from '../kernel/notebooks';
import type { IEntry } from '../kernel/state';
import { CellControls, CellsShown } from './CellControls';
import { GroupHeading } from './GroupHeading';
import { RecordRow, type IRowActions } from './RecordRow';
import { useOwnedState } from '../receipts/useOwnedState';
import { PointedRecord } from './PointedRecord';
import { WindowedList } from './WindowedList';
import { toggled } from '../receipts/controls';

/** Estimated height of a row in pixels. */
const ROW_HEIGHT = 26;

/** A record or line whose cell the user asked for, and why it cannot be shown. */
export interface IMissingCell {
  key: string;
  why: Message;
}

export function RecordList(
  props: IRowActions & {
    session: NotebookSession;
    /** Oldest first. */
    entries: readonly IEntry[];
    older: number;
    /** The notebook's current run of the kernel. */
    run: string | null;
    missingCell: IMissingCell | null;
    /** Keys of the records selected for a comparison. */
    selected: readonly string[];
    /** Key of the record that gets the focus when the list appears. */
    focus: string | null;
    /** Called when the list has appeared. */
    onFocused: () => void;
    /** Content above the list: actions on the selected records. */
    children: ReactElement | null;
    t: Translate;
  }
): ReactElement {
  const { session, entries, older, run, missingCell, selected, focus, onFocused, children, t } =
    props;
  const actions: IRowActions = {
    onGo: useStable(props.onGo),
    onLogs: useStable(props.onLogs),
    onOpen: useStable(props.onOpen),
    onSelect: useStable(props.onSelect)
  };
  useEffect(onFocused, [onFocused]);
  const { cellMarks: marks } = session;
  const pointed = useSyncExternalStore(marks.subscribe, () => marks.pointed);
  const [filter, setFilter] = useOwnedState<IRecordFilter>(session, 'cellFilter', ALL_RECORDS);
  const [open, setOpen] = useOwnedState(session, 'cellFiltersOpen', false);
  const [closed, setClosed] = useOwnedState<ReadonlySet<string>>(
    session,
    'closedGroups',
    new Set()
  );
  const onFilter = (change: Partial<IRecordFilter>): void => setFilter({ ...filter, ...change });
  // Typing stays smooth, because the list follows with lower priority.
  const followed = useDeferredValue(filter);
  const found = useMemo(() => select(entries, followed), [entries, followed]);
  const rows = useMemo(
    () => rowsOf(found.entries, followed.group, closed),
    [found, followed.group, closed]
  );
  const runs = useMemo(() => runsByCell(entries), [entries]);
  const devices = useMemo(() => devicesOf(entries), [entries]);
  const causes = useMemo(() => causesOf(entries), [entries]);
  const keyOf = useCallback((index: number) => rows[index]?.key, [rows]);
  const row = (index: number, tabStop: boolean): ReactElement | null => {
    const one = rows[index];
    if (one === undefined) {
      return null;
    }
    if (one.entry === null) {
      const { group, members, example } = one.heading;
      const { record } = example;
      const trend =
        group === 'cell' ? trendOf(record, runs) : group === 'repeat' && trendOfRepeat(members);
      return (
        <GroupHeading
          heading={one.heading}
          trend={trend || null}
          current={record.runId === run}
          tabStop={tabStop}
          onToggle={() => setClosed(toggled(closed, one.key))}
          t={t}
        />
      );
    }
    const { entry } = one;
    return (
      <RecordRow
        entry={entry}
        earlier={run !== null && entry.record.runId !== run}
        sort={followed.sort}
        scale={found.scale}
        selected={selected.includes(entry.key)}
        pointed={entry.cellId !== null && entry.cellId === pointed}
        marks={marks}
        tabStop={tabStop}
        {...actions}
        t={t}
      />
    );
  };
  return (
    <section className="jp-mlgpu-Records" aria-label={t('records')}>
      <div className="jp-mlgpu-Records-head">
        <h3>
          {t(entries.at(-1)?.saved === true ? 'fromSaved' : 'records')}{' '}
          <span className="jp-mlgpu-Quiet">{entries.length.toLocaleString()}</span>
        </h3>
        {found.scale > 0 && (
          <span className="jp-mlgpu-Quiet">
            {t('scale', { time: formatFigure(found.scale, followed.sort) })}
          </span>
        )}
      </div>
      <CellControls
        filter={filter}
        onFilter={onFilter}
        counts={found.counts}
        devices={devices}
        causes={causes}
        open={open}
        onOpen={setOpen}
        t={t}
      />
      <CellsShown
        shown={found.entries.length}
        count={entries.length}
        unmeasured={found.unmeasured}
        filter={filter}
        onFilter={onFilter}
        t={t}
      />
      {children}
      {rows.length === 0 ? (
        <p className="jp-mlgpu-Empty">{t('noRecordsMatch')}</p>
      ) : (
        <WindowedList
          // A new order starts at its top.
          key={orderOf(followed)}
          count={rows.length}
          keyOf={keyOf}
          estimate={ROW_HEIGHT}
          alike
          newest="first"
          row={row}
          isHeading={index => rows[index]?.entry === null}
          focus={focus}
        >
          {older > 0 && <p className="jp-mlgpu-Quiet">{t('older', { count: older })}</p>}
        </WindowedList>
      )}
      <PointedRecord entries={entries} runs={runs} marks={marks} missingCell={missingCell} t={t} />
    </section>
  );
}

/** Return a function that never changes and calls the newest `act`. */
function useStable<A extends unknown[]>(act: (...values: A) => void): (...values: A) => void {
  const newest = useRef(act);
  useLayoutEffect(() => {
    newest.current = act;
  });
  return useCallback((...values: A) => newest.current(...values), []);
}
