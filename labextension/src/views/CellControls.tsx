/** One row of controls over the records: find, sort, and the filters, which are folded away until asked for. */

import { filterIcon } from '@jupyterlab/ui-components';
import { useId } from 'react';
import type { ReactElement } from 'react';

import { ALL_RECORDS, GROUPINGS, OUTCOMES, SORTS, countFilters } from '../cellrows';
import type { Grouping, IRecordFilter, Sort } from '../cellrows';
import { NOT_KNOWN, NOWHERE } from '../figures';
import type { Translate } from '../i18n';
import type { IRecord, Outcome } from '../record';
import { Outcome as OutcomeMark } from './Outcome';

interface IControls {
  filter: IRecordFilter;
  onFilter: (change: Partial<IRecordFilter>) => void;
  /** How many records ended in each way, with the other filters as they are. */
  counts: Record<Outcome, number>;
  /** The devices that there are to choose from. */
  devices: readonly string[];
  t: Translate;
}

export function CellControls(
  props: IControls & {
    /** Whether the filters are unfolded. */
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
        <input
          type="search"
          className="jp-mlgpu-Input"
          aria-label={t('findCell')}
          placeholder={t('findCell')}
          value={filter.text}
          onChange={event => onFilter({ text: event.target.value })}
        />
        <select
          className="jp-mlgpu-Input"
          aria-label={t('sortBy')}
          value={filter.sort}
          onChange={event => onFilter({ sort: event.target.value as Sort })}
        >
          {SORTS.map(sort => (
            <option key={sort} value={sort}>
              {t(`sort_${sort}`)}
            </option>
          ))}
        </select>
        <button
          type="button"
          className="jp-mlgpu-Toggle"
          aria-label={active > 0 ? t('filtersSet', { count: String(active) }) : t('filters')}
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
  const { filter, onFilter, counts, devices, t } = props;
  const { group, outcomes, device, mode, noted } = filter;
  const toggle = (outcome: Outcome): void => {
    const after = new Set(outcomes);
    if (!after.delete(outcome)) {
      after.add(outcome);
    }
    onFilter({ outcomes: after });
  };
  const unlisted = device !== null && !devices.includes(device);
  return (
    <div className="jp-mlgpu-CellControls-folded">
      <div role="group" aria-label={t('endedAs')} className="jp-mlgpu-Filters-verdicts">
        {OUTCOMES.filter(outcome => counts[outcome] > 0 || outcomes.has(outcome)).map(outcome => (
          <button
            key={outcome}
            type="button"
            className="jp-mlgpu-Chip"
            aria-pressed={outcomes.has(outcome)}
            onClick={() => toggle(outcome)}
          >
            <span aria-hidden="true">
              <OutcomeMark outcome={outcome} t={t} />
            </span>
            {t(outcome)} <span className="jp-mlgpu-Quiet">{counts[outcome].toLocaleString()}</span>
          </button>
        ))}
        <button
          type="button"
          className="jp-mlgpu-Chip"
          aria-pressed={noted}
          onClick={() => onFilter({ noted: !noted })}
        >
          {t('withNotes')}
        </button>
      </div>
      <select
        className="jp-mlgpu-Input"
        aria-label={t('deviceRanOn')}
        value={device ?? ''}
        onChange={event => onFilter({ device: event.target.value || null })}
      >
        <option value="">{t('anyDeviceRanOn')}</option>
        {[...devices, ...(unlisted ? [device] : [])].map(one => (
          <option key={one} value={one}>
            {deviceName(one, t)}
          </option>
        ))}
      </select>
      <select
        className="jp-mlgpu-Input"
        aria-label={t('withProfiler')}
        value={mode ?? ''}
        onChange={event =>
          onFilter({
            mode: event.target.value === '' ? null : (event.target.value as IRecord['mode'])
          })
        }
      >
        <option value="">{t('anyMode')}</option>
        <option value="light">{t('lightOnly')}</option>
        <option value="profiled">{t('profiledOnly')}</option>
      </select>
      <select
        className="jp-mlgpu-Input"
        aria-label={t('groupBy')}
        value={group}
        onChange={event => onFilter({ group: event.target.value as Grouping })}
      >
        {GROUPINGS.map(one => (
          <option key={one} value={one}>
            {t(`group_${one}`)}
          </option>
        ))}
      </select>
    </div>
  );
}

/** How many of the records are shown, where that is not all of them, and how to see all again. */
export function CellsShown(props: {
  shown: number;
  count: number;
  /** How many stand last, because what they are sorted by was not measured. */
  unmeasured: number;
  filter: IRecordFilter;
  onFilter: (change: Partial<IRecordFilter>) => void;
  t: Translate;
}): ReactElement {
  const { shown, count, unmeasured, filter, onFilter, t } = props;
  const said = [
    shown < count
      ? t('recordsShown', { shown: shown.toLocaleString(), count: count.toLocaleString() })
      : '',
    unmeasured > 0 ? t('standLast', { count: unmeasured.toLocaleString() }) : ''
  ]
    .filter(Boolean)
    .join(' · ');
  const { sort, group } = filter;
  return (
    <div className="jp-mlgpu-CellsShown">
      <span role={said ? 'status' : undefined}>{said}</span>
      {shown < count && (
        <button
          type="button"
          className="jp-mlgpu-TextButton"
          onClick={() => onFilter({ ...ALL_RECORDS, sort, group })}
        >
          {t('clearFilters')}
        </button>
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
