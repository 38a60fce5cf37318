/** One record as a row of the list: its cell, its figure with a bar, its outcome, and links. */

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
  /** Show its lines in the log. */
  onLogs: (entry: IEntry) => void;
  /** Open its page. */
  onOpen: (entry: IEntry) => void;
  /** Select or deselect it for a comparison. */
  onSelect: (entry: IEntry) => void;
}

/**
 * A row, memoized, so that new records do not redraw it. It has few elements, because many rows are made
 * between two frames.
 */
export const RecordRow = memo(function RecordRow(
  props: IRowActions & {
    entry: IEntry;
    /** True if the record is from an earlier kernel. */
    earlier: boolean;
    /** Sort order of the list, which selects the figure. */
    sort: Sort;
    /** Value that fills the bar. */
    scale: number;
    /** True if it is selected for a comparison. */
    selected: boolean;
    /** True if its cell is under the pointer or active. */
    pointed: boolean;
    marks: CellMarks;
    /** True if Tab stops here; arrow keys reach the other rows. */
    tabStop: boolean;
    t: Translate;
  }
): ReactElement {
  const { entry, earlier, sort, scale, selected, pointed, marks, tabStop, t } = props;
  const { onGo, onLogs, onOpen, onSelect } = props;
  const { key, record, cellId } = entry;
  const { head } = record;
  const tabIndex = tabStop ? 0 : -1;
  // A row that has left the page no longer marks its cell.
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
        {head.kind !== '' && (
          <span
            className="jp-mlgpu-Cause"
            data-cause={head.kind}
            data-unsure={t.say(head.doubt) !== '' || undefined}
            title={t.say(head.figures.find(([name]) => name === 'limit')?.[1] ?? '')}
          >
            {t.say(head.cause)}
          </span>
        )}{' '}
        <span className="jp-mlgpu-Record-facts">
          {dotted(earlier && t('earlierKernel'), factsOf(record, t, 'limit'))}
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

/** A mark for messages to act on, which opens them, or else for the kernel's notes. */
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

/** Space selects the row; without this it would click the button, as Enter does. */
function onSpace(event: KeyboardEvent, act: () => void): void {
  if (event.key === ' ') {
    event.preventDefault();
    act();
  }
}
