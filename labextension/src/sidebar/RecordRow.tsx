/** One record in the list, in one line: its cell, its figure with a bar, how it ended; leads to all that is known. */

import { memo, useEffect, type KeyboardEvent, type ReactElement } from 'react';

import { barWidth, dotted } from '../record/format';
import type { CellMarks } from './cellmarks';
import { figureOf, type Sort } from '../record/cellrows';
import { factsOf, messagesOf } from '../record/head';
import { isToActOn, worstFirst } from '../record/logs';
import type { Translate } from '../language/i18n';
import type { IEntry } from '../kernel/state';
import type { IRecord } from '../record/record';
import { figureInWords } from '../record/cellwords';
import { Outcome } from '../receipts/Outcome';
import { VerdictShape } from '../receipts/Verdict';
import { CellName } from './RunningCell';
import { caret } from '../receipts/icons';

export interface IRowActions {
  onGo: (entry: IEntry) => void;
  /** Show its lines among the logs. */
  onLogs: (entry: IEntry) => void;
  /** Show all that is known of it. */
  onOpen: (entry: IEntry) => void;
  /** Select it to compare it, or no more. */
  onSelect: (entry: IEntry) => void;
}

/**
 * Drawn again only where it is another: not for each record that comes in while it is in sight. Few elements: many
 * of them are made between two frames.
 */
export const RecordRow = memo(function RecordRow(
  props: IRowActions & {
    entry: IEntry;
    /** Whether it is of an earlier kernel than the one that the notebook has now. */
    earlier: boolean;
    /** By which figure the list is sorted: that is the one it shows. */
    sort: Sort;
    /** The figure that fills a bar. */
    scale: number;
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
  const { entry, earlier, sort, scale, selected, pointed, marks, tabStop, t } = props;
  const { onGo, onLogs, onOpen, onSelect } = props;
  const { key, record, cellId } = entry;
  const tabIndex = tabStop ? 0 : -1;
  // What is not in the page any more points at nothing.
  useEffect(() => () => marks.unmark(key), [marks, key]);
  const value = figureOf(record, sort);
  return (
    <div
      className="jp-mlgpu-Record"
      aria-current={pointed || undefined}
      onPointerEnter={() => marks.mark(key, cellId)}
      onPointerLeave={() => marks.unmark(key)}
      onFocus={() => marks.mark(key, cellId)}
      onBlur={() => marks.unmark(key)}
    >
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
        <CellName cell={record.cell} />{' '}
        <span className="jp-mlgpu-Record-facts">
          {dotted(earlier && t('earlierKernel'), factsOf(record, t))}
        </span>{' '}
        <span className="jp-mlgpu-Record-figure">{figureInWords(record, sort, t)}</span>
        <span
          className="jp-mlgpu-Record-bar"
          style={{ backgroundSize: `${barWidth(value ?? 0, scale)}% 100%` }}
        />
      </button>
      <span className="jp-mlgpu-Record-marks">
        <Mark record={record} onLogs={() => onLogs(entry)} tabIndex={tabIndex} t={t} />
        {record.outcome !== 'ok' && <Outcome outcome={record.outcome} t={t} />}
      </span>
      <button
        type="button"
        className={`jp-mlgpu-Toggle ${caret(false)}`}
        aria-label={t('details')}
        title={t('showDetails')}
        tabIndex={tabIndex}
        onClick={() => onOpen(entry)}
      />
    </div>
  );
});

/** That there are messages to act on, which a click shows, or else that the kernel has something to say of it. */
function Mark(props: {
  record: IRecord;
  onLogs: () => void;
  tabIndex: number;
  t: Translate;
}): ReactElement | null {
  const { record, onLogs, tabIndex, t } = props;
  const [worst] = record.logs.length > 0 ? worstFirst(record.logs) : [];
  if (worst !== undefined && isToActOn(worst.verdict)) {
    const words = messagesOf(record, t);
    return (
      <button
        type="button"
        className="jp-mlgpu-Toggle"
        aria-label={words}
        title={words}
        tabIndex={tabIndex}
        onClick={onLogs}
      >
        <VerdictShape verdict={worst.verdict} />
      </button>
    );
  }
  return record.notes.length > 0 ? <VerdictShape verdict="info" /> : null;
}

/** A button's own answer to the space bar, a click, is left to the enter key. */
function onSpace(event: KeyboardEvent, act: () => void): void {
  if (event.key === ' ') {
    event.preventDefault();
    act();
  }
}
