/** One record in the list: its cell, how it ended, its times, where it ran; leads to all that is known of it. */

import { memo, useEffect } from 'react';
import type { KeyboardEvent, ReactElement } from 'react';

import { dotted } from '../record/format';
import { kindOf } from '../record/limits';
import { Notes } from '../receipts/RecordDetails';
import type { CellMarks } from './cellmarks';
import type { ITrend } from '../record/cellrows';
import type { Message, Translate } from '../language/i18n';
import type { IEntry } from '../kernel/state';
import type { IRecord } from '../record/record';
import { energyInWords, labels, peakMemory, place } from '../record/words';
import { NotesCount } from '../receipts/NotesCount';
import { Outcome } from '../receipts/Outcome';
import { CellName } from './RunningCell';
import { TimeBars } from '../receipts/TimeBars';
import { Trend } from './Trend';
import { caret } from '../receipts/icons';

/** The times in a list; a record's page has all of them. */
const LISTED = ['wall_time', 'device_time'];

export interface IRowActions {
  onGo: (entry: IEntry) => void;
  /** Show its lines among the logs. */
  onLogs: (entry: IEntry) => void;
  /** Show all that is known of it. */
  onOpen: (entry: IEntry) => void;
  /** Select it to compare it, or no more. */
  onSelect: (entry: IEntry) => void;
}

/** Drawn again only where it is another: not for each record that comes in while it is in sight. */
export const RecordRow = memo(function RecordRow(
  props: IRowActions & {
    entry: IEntry;
    /** Seconds that fill a bar. */
    scale: number;
    /** Why its cell cannot be shown, when the user asked for it. */
    lost: Message | null;
    /** How the runs of its cell went, where this is the place to tell it. */
    trend: ITrend | null;
    /** Whether it is selected to be compared. */
    selected: boolean;
    /** Whether its cell is pointed at. */
    pointed: boolean;
    marks: CellMarks;
    /** Whether the keyboard's Tab stops here; arrows reach the other rows. */
    tabStop: boolean;
    t: Translate;
  }
): ReactElement {
  const { entry, scale, lost, trend, selected, pointed, marks, tabStop, t } = props;
  const { onGo, onLogs, onOpen, onSelect } = props;
  const { key, record, cellId } = entry;
  const tabIndex = tabStop ? 0 : -1;
  // What is not in the page any more points at nothing.
  useEffect(() => () => marks.unmark(key), [marks, key]);
  const facts = dotted(
    kindOf(record.limit, t),
    place(record, t),
    peakMemory(record, t),
    energyInWords(record, t)
  );
  return (
    <div
      className="jp-mlgpu-Record"
      aria-current={pointed || undefined}
      onPointerEnter={() => marks.mark(key, cellId)}
      onPointerLeave={() => marks.unmark(key)}
      onFocus={() => marks.mark(key, cellId)}
      onBlur={() => marks.unmark(key)}
    >
      <div className="jp-mlgpu-Row-head">
        <input
          type="checkbox"
          aria-label={t('selectToCompare', { cell: record.cell.name })}
          tabIndex={tabIndex}
          checked={selected}
          onChange={() => onSelect(entry)}
        />
        <button
          type="button"
          className="jp-mlgpu-Go"
          title={t('goOrSelect')}
          aria-keyshortcuts="Space"
          tabIndex={tabIndex}
          onClick={() => onGo(entry)}
          onKeyDown={event => onSpace(event, () => onSelect(entry))}
          onKeyUp={event => onSpace(event, () => undefined)}
        >
          <CellName cell={record.cell} />
        </button>
        <Outcome outcome={record.outcome} t={t} />
        <button
          type="button"
          className={`jp-mlgpu-Toggle ${caret(false)}`}
          aria-label={t('details')}
          title={t('showDetails')}
          tabIndex={tabIndex}
          onClick={() => onOpen(entry)}
        />
      </div>
      <Labels record={record} t={t} />
      <TimeBars record={record} scale={scale} only={LISTED} t={t} />
      {trend && <Trend trend={trend} t={t} />}
      <p className="jp-mlgpu-Facts">{facts}</p>
      <NotesCount record={record} onLogs={() => onLogs(entry)} tabIndex={tabIndex} t={t} />
      <Notes record={record} t={t} />
      {lost !== null && <p className="jp-mlgpu-Note">{t(lost)}</p>}
    </div>
  );
});

/** A button's own answer to the space bar, a click, is left to the enter key. */
function onSpace(event: KeyboardEvent, act: () => void): void {
  if (event.key === ' ') {
    event.preventDefault();
    act();
  }
}

function Labels(props: { record: IRecord; t: Translate }): ReactElement | null {
  const { record, t } = props;
  const said = labels({ ...record, outcome: 'ok' }, t);
  return said ? <p className="jp-mlgpu-Label">{said}</p> : null;
}
