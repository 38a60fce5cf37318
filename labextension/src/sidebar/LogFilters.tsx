/** Filters of the log: verdicts, a cell, a text, and whether lines are explained. */

import { memo, useDeferredValue, type ReactElement } from 'react';

import { cellNumber } from '../record/cell';
import type { Translate } from '../language/i18n';
import { NO_CELL, type ILogFilter, type ILogGroup } from '../record/logrows';
import { VERDICTS, type Verdict } from '../record/logs';
import { VerdictShape } from '../receipts/Verdict';
import { Chip, Search, toggled } from '../receipts/controls';

/** Largest number of cells to choose from; the newest ones. */
export const CHOICES = 200;

export function LogFilters(props: {
  filter: ILogFilter;
  onFilter: (change: Partial<ILogFilter>) => void;
  counts: Record<Verdict, number>;
  /** The newest `CHOICES` cells with lines, and the chosen one. */
  groups: readonly ILogGroup[];
  t: Translate;
}): ReactElement {
  const { filter, onFilter, counts, groups, t } = props;
  // A deferred value, because the list has many elements and changes with each cell.
  const listed = useDeferredValue(groups);
  const unlisted = filter.group !== null && !listed.some(({ group }) => group === filter.group);
  return (
    <div className="jp-mlgpu-Filters">
      <div role="group" aria-label={t('verdict')} className="jp-mlgpu-Filters-verdicts">
        {VERDICTS.filter(verdict => counts[verdict] > 0 || filter.verdicts.has(verdict)).map(
          verdict => (
            <Chip
              key={verdict}
              pressed={filter.verdicts.has(verdict)}
              onClick={() => onFilter({ verdicts: toggled(filter.verdicts, verdict) })}
            >
              <VerdictShape verdict={verdict} />
              {t(verdict)}{' '}
              <span className="jp-mlgpu-Quiet">{counts[verdict].toLocaleString()}</span>
            </Chip>
          )
        )}
      </div>
      <select
        className="jp-mlgpu-Input"
        aria-label={t('cell')}
        value={filter.group ?? ''}
        onChange={event => onFilter({ group: event.target.value || null })}
      >
        <option value="">{t('allCells')}</option>
        {unlisted && <option value={filter.group ?? ''}>{t('cell')}</option>}
        <Cells groups={listed} t={t} />
        {listed.length >= CHOICES && <option disabled>{t('olderCells')}</option>}
      </select>
      <div className="jp-mlgpu-Filters-text">
        <Search label={t('search')} value={filter.text} onChange={text => onFilter({ text })} />
        <Chip
          pressed={filter.raw}
          title={t('rawTitle')}
          onClick={() => onFilter({ raw: !filter.raw })}
        >
          {t('raw')}
        </Chip>
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
  return group === NO_CELL || cell === null ? t('noCell') : `${cellNumber(cell)} ${cell.name}`;
}
