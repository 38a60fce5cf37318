/** Controls above the records: search, sort order, and collapsible filters. */

import { filterIcon } from '@jupyterlab/ui-components';
import { useId, type ReactElement } from 'react';

import { dotted } from '../record/format';
import { ALL_RECORDS, GROUPINGS, OUTCOMES, SORTS, countFilters } from '../record/cellrows';
import type { IRecordFilter } from '../record/cellrows';
import { NOT_KNOWN, NOWHERE } from '../record/figures';
import type { Translate } from '../language/i18n';
import type { IRecord, Outcome } from '../record/record';
import { Outcome as OutcomeMark } from '../receipts/Outcome';
import { Button, Chip, Search, Select, toggled } from '../receipts/controls';

interface IControls {
  filter: IRecordFilter;
  onFilter: (change: Partial<IRecordFilter>) => void;
  /** Number of records by outcome, before the filter by outcome. */
  counts: Record<Outcome, number>;
  /** Devices to choose from. */
  devices: readonly string[];
  /** Causes to choose from, each with a record that has it. */
  causes: ReadonlyMap<string, IRecord>;
  t: Translate;
}

export function CellControls(
  props: IControls & {
    /** True if the filters are expanded. */
    open: boolean;
    onOpen: (open: boolean) => void;
  }
): ReactElement {
  const { filter, onFilter, open, onOpen, t } = props;
  const id = useId();
  const active = countFilters(filter);
  return (
    <div className="jp-mlgpu-CellControls">
      <div className="jp-mlgpu-CellControls-row">
        <Search label={t('findCell')} value={filter.text} onChange={text => onFilter({ text })} />
        <Select
          label={t('sortBy')}
          value={filter.sort}
          options={SORTS.map(sort => [sort, t(`sort_${sort}`)])}
          onChoose={sort => onFilter({ sort })}
        />
        <button
          type="button"
          className="jp-mlgpu-Toggle"
          aria-label={active > 0 ? t('filtersSet', { count: active }) : t('filters')}
          title={t('filters')}
          aria-expanded={open}
          aria-controls={id}
          onClick={() => onOpen(!open)}
        >
          <filterIcon.react tag="span" />
          {active > 0 && <span>{active}</span>}
        </button>
      </div>
      <div id={id} hidden={!open}>
        {open && <Folded {...props} />}
      </div>
    </div>
  );
}

function Folded(props: IControls): ReactElement {
  const { filter, onFilter, counts, devices, causes, t } = props;
  const { group, outcomes, device, mode, noted, cause } = filter;
  const unlisted = device !== null && !devices.includes(device);
  return (
    <div className="jp-mlgpu-CellControls-folded">
      <div role="group" aria-label={t('endedAs')} className="jp-mlgpu-Filters-verdicts">
        {OUTCOMES.filter(outcome => counts[outcome] > 0 || outcomes.has(outcome)).map(outcome => (
          <Chip
            key={outcome}
            pressed={outcomes.has(outcome)}
            onClick={() => onFilter({ outcomes: toggled(outcomes, outcome) })}
          >
            <span aria-hidden="true">
              <OutcomeMark outcome={outcome} t={t} />
            </span>
            {t(outcome)} <span className="jp-mlgpu-Quiet">{counts[outcome].toLocaleString()}</span>
          </Chip>
        ))}
        <Chip pressed={noted} onClick={() => onFilter({ noted: !noted })}>
          {t('withNotes')}
        </Chip>
      </div>
      {(causes.size > 0 || cause !== null) && (
        <Select
          label={t('spentOn')}
          value={cause ?? ''}
          options={[
            ['', t('anyCause')],
            ...[...causes].map(([kind, { head }]) => [kind, t.say(head.cause)] as const)
          ]}
          onChoose={one => onFilter({ cause: one || null })}
        />
      )}
      <Select
        label={t('deviceRanOn')}
        value={device ?? ''}
        options={[
          ['', t('anyDeviceRanOn')],
          ...[...devices, ...(unlisted ? [device] : [])].map(
            one => [one, deviceName(one, t)] as const
          )
        ]}
        onChoose={one => onFilter({ device: one || null })}
      />
      <Select<IRecord['mode'] | ''>
        label={t('withProfiler')}
        value={mode ?? ''}
        options={[
          ['', t('anyMode')],
          ['light', t('lightOnly')],
          ['profiled', t('profiledOnly')]
        ]}
        onChoose={one => onFilter({ mode: one || null })}
      />
      <Select
        label={t('groupBy')}
        value={group}
        options={GROUPINGS.map(one => [one, t(`group_${one}`)])}
        onChoose={one => onFilter({ group: one })}
      />
    </div>
  );
}

/** The number of records that match, if not all do, with a button that clears the filters. */
export function CellsShown(props: {
  shown: number;
  count: number;
  /** Number of records without the sorted figure, which come last. */
  unmeasured: number;
  filter: IRecordFilter;
  onFilter: (change: Partial<IRecordFilter>) => void;
  t: Translate;
}): ReactElement {
  const { shown, count, unmeasured, filter, onFilter, t } = props;
  const summary = dotted(
    shown < count && t('recordsShown', { shown, count }),
    unmeasured > 0 && t('standLast', { count: unmeasured })
  );
  const { sort, group } = filter;
  return (
    <div className="jp-mlgpu-CellsShown">
      <span role={summary ? 'status' : undefined}>{summary}</span>
      {shown < count && (
        <Button
          label={t('clearFilters')}
          onClick={() => onFilter({ ...ALL_RECORDS, sort, group })}
        />
      )}
    </div>
  );
}

function deviceName(device: string, t: Translate): string {
  if (device === NOWHERE) {
    return t('ranNowhere');
  }
  return device === NOT_KNOWN ? t('deviceUnknown') : device;
}
