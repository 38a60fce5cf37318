/** All log lines of the notebook, oldest first, with filters. Only visible rows are in the page. */

import { useCallback, useMemo, useState, type ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import { ALL_LINES, LogRows, groups, linesLeftOut, logSections } from '../record/logrows';
import type { ILogFilter, ILogRow } from '../record/logrows';
import { hasOwnRecords, shownEntries, type IState } from '../kernel/state';
import { CHOICES, LogFilters } from './LogFilters';
import { LogRow } from './LogRow';
import type { IMissingCell } from './RecordList';
import { WindowedList } from './WindowedList';
import { useFiltered } from './useFiltered';
import { Button, toggled } from '../receipts/controls';
import { Prose } from '../receipts/Prose';

/** Estimated height of a row in pixels. */
const ROW_HEIGHT = 76;

const NO_ROWS = new LogRows();

export function LogView(props: {
  state: IState;
  filter: ILogFilter;
  onFilter: (change: Partial<ILogFilter>) => void;
  missingCell: IMissingCell | null;
  onGo: (row: ILogRow) => void;
  t: Translate;
}): ReactElement {
  const { state, filter, onFilter, missingCell, onGo, t } = props;
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const sections = useMemo(() => logSections(state), [state]);
  const all = sections.reduce((sum, { length }) => sum + length, 0);
  const choices = useMemo(() => groups(sections, CHOICES, filter.group), [sections, filter.group]);
  const found = useFiltered(sections, filter, t.messages);
  const rows = found ?? NO_ROWS;
  const keyOf = useCallback((index: number) => rows.keyAt(index), [rows]);
  if (all === 0) {
    return <p className="jp-mlgpu-Empty">{emptyText(state, t)}</p>;
  }
  return (
    <section className="jp-mlgpu-Records" aria-label={t('logs')}>
      <LogFilters filter={filter} onFilter={onFilter} counts={rows.counts} groups={choices} t={t} />
      <p
        className="jp-mlgpu-Filters-result"
        role={rows.length < all && state.running.length === 0 ? 'status' : undefined}
      >
        {t('linesShown', {
          shown: rows.length,
          count: all
        })}
        {rows.length < all && (
          <Button
            label={t('clearFilters')}
            onClick={() => onFilter({ ...ALL_LINES, raw: filter.raw })}
          />
        )}
      </p>
      <LeftOut state={state} t={t} />
      {found === null ? null : rows.length === 0 ? (
        <p className="jp-mlgpu-Empty">{t('noLinesMatch')}</p>
      ) : (
        <WindowedList
          count={rows.length}
          keyOf={keyOf}
          estimate={ROW_HEIGHT}
          newest="last"
          toEnd={t('toNewestLine')}
          label={t('logs')}
          row={(index, tabStop) => {
            const row = rows.at(index);
            return (
              row && (
                <LogRow
                  row={row}
                  raw={filter.raw}
                  open={open.has(row.key)}
                  missingCell={missingCell?.key === row.key ? missingCell.why : null}
                  tabStop={tabStop}
                  onGo={onGo}
                  onToggle={key => setOpen(before => toggled(before, key))}
                  t={t}
                />
              )
            );
          }}
        />
      )}
    </section>
  );
}

/** Notes on lines that exist but are not listed. */
function LeftOut(props: { state: IState; t: Translate }): ReactElement | null {
  const { state, t } = props;
  const earlier = state.running.reduce((sum, cell) => sum + cell.earlierLogs, 0);
  const cut = useMemo(() => linesLeftOut(shownEntries(state)), [state]);
  return earlier > 0 || cut > 0 ? (
    <p className="jp-mlgpu-Filters-result jp-mlgpu-Quiet">
      {earlier > 0 && t('earlierLines', { count: earlier })}
      {cut > 0 && (
        <Prose text={t(hasOwnRecords(state) ? 'linesNotTold' : 'linesLeftOut', { count: cut })} />
      )}
    </p>
  ) : null;
}

function emptyText(state: IState, t: Translate): string {
  if (state.kernel === 'live') {
    return state.tracing === false ? t('noLinesTracingOff') : t('noLines');
  }
  return state.saved.length > 0 ? t('noLinesSaved') : '';
}
