/** What to show of the log: verdicts, a cell, a text; explained, or as it was printed. */

import { memo, useDeferredValue } from 'react';
import type { ReactElement } from 'react';

import type { Translate } from '../i18n';
import { NO_CELL } from '../logrows';
import type { ILogFilter, ILogGroup } from '../logrows';
import { VERDICTS } from '../logs';
import type { Verdict } from '../logs';
import { VerdictShape } from './Verdict';

/** Cells to choose from: the newest. */
export const CHOICES = 200;

export function LogFilters(props: {
  filter: ILogFilter;
  onFilter: (change: Partial<ILogFilter>) => void;
  counts: Record<Verdict, number>;
  /** The newest `CHOICES` cells that have lines, and the one that is chosen. */
  groups: readonly ILogGroup[];
  t: Translate;
}): ReactElement {
  const { filter, onFilter, counts, groups, t } = props;
  const toggle = (verdict: Verdict): void => {
    const verdicts = new Set(filter.verdicts);
    if (!verdicts.delete(verdict)) {
      verdicts.add(verdict);
    }
    onFilter({ verdicts });
  };
  // While cells run one after the other, what can be chosen follows when there is time: it is many elements.
  const listed = useDeferredValue(groups);
  const unlisted = filter.group !== null && !listed.some(({ group }) => group === filter.group);
  return (
    <div className="jp-mlgpu-Filters">
      <div role="group" aria-label={t('verdict')} className="jp-mlgpu-Filters-verdicts">
        {VERDICTS.filter(verdict => counts[verdict] > 0 || filter.verdicts.has(verdict)).map(
          verdict => (
            <button
              key={verdict}
              type="button"
              className="jp-mlgpu-Chip"
              aria-pressed={filter.verdicts.has(verdict)}
              onClick={() => toggle(verdict)}
            >
              <VerdictShape verdict={verdict} />
              {t(verdict)}{' '}
              <span className="jp-mlgpu-Quiet">{counts[verdict].toLocaleString()}</span>
            </button>
          )
        )}
      </div>
      <select
        className="jp-mlgpu-Input"
        aria-label={t('ofCell')}
        value={filter.group ?? ''}
        onChange={event => onFilter({ group: event.target.value || null })}
      >
        <option value="">{t('allCells')}</option>
        {unlisted && <option value={filter.group ?? ''}>{t('ofCell')}</option>}
        <Cells groups={listed} t={t} />
        {listed.length >= CHOICES && <option disabled>{t('olderCells')}</option>}
      </select>
      <div className="jp-mlgpu-Filters-text">
        <input
          type="search"
          className="jp-mlgpu-Input"
          aria-label={t('search')}
          placeholder={t('search')}
          value={filter.text}
          onChange={event => onFilter({ text: event.target.value })}
        />
        <button
          type="button"
          className="jp-mlgpu-Chip"
          aria-pressed={filter.raw}
          title={t('rawTitle')}
          onClick={() => onFilter({ raw: !filter.raw })}
        >
          {t('raw')}
        </button>
      </div>
    </div>
  );
}

const Cells = memo(function Cells(props: {
  groups: readonly ILogGroup[];
  t: Translate;
}): ReactElement {
  const { groups, t } = props;
  return (
    <>
      {groups.map(group => (
        <option key={group.group} value={group.group}>
          {groupName(group, t)}
        </option>
      ))}
    </>
  );
});

function groupName({ group, cell }: ILogGroup, t: Translate): string {
  return group === NO_CELL || cell === null
    ? t('noCell')
    : `[${cell.executionCount ?? ' '}] ${cell.name}`;
}
