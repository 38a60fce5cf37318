/**
 * Tells a screen reader what a sighted user notices from the corner of an eye, and no more: the end of
 * a cell that took a while or brought something to act on, and a cell that was not found.
 */

import type { ReactElement } from 'react';

import type { Message, Translate } from '../i18n';
import { isToActOn, notesInWords } from '../notes';
import type { IState } from '../state';
import { known, shown } from '../words';

/** Seconds from which the end of a cell is news. */
const WHILE = 5;

export function Announcer(props: {
  state: IState;
  /** Why a cell that the user asked for cannot be shown. */
  lost: Message | null;
  t: Translate;
}): ReactElement {
  const { state, lost, t } = props;
  return (
    <div className="jp-mlgpu-Hidden" role="status">
      {lost === null ? lastEnd(state, t) : t(lost)}
    </div>
  );
}

function lastEnd(state: IState, t: Translate): string {
  const record = state.entries.at(-1)?.record;
  if (record?.origin !== 'live') {
    return '';
  }
  const cell = `${t('cell')} ${record.cell.executionCount ?? ''}`.trim();
  const wall = known(record, 'wall_time');
  const ended =
    wall === undefined || (wall.value ?? 0) < WHILE
      ? ''
      : t('finishedIn', { cell, outcome: t(record.outcome), time: shown(wall, record, t) });
  const notes = record.logs.some(({ verdict }) => isToActOn(verdict))
    ? notesInWords(record, t)
    : [];
  return [ended || (notes.length > 0 ? cell : ''), ...notes].filter(Boolean).join(' · ');
}
