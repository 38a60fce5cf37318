/**
 * Announces to screen readers what sighted users notice anyway: a kernel that stopped or restarted, the end
 * of a cell that took a while or needs action, and a cell that was not found. Changing numbers and old
 * records are not announced.
 */

import type { ReactElement } from 'react';

import { dotted } from '../record/format';
import type { Message, Translate } from '../language/i18n';
import { figureNamed, messagesOf } from '../record/head';
import { isToActOn } from '../record/logs';
import type { IState } from '../kernel/state';
import { known } from '../record/words';
import { plain } from '../language/prose';

/** Seconds from which the end of a cell is announced. */
const LONG_CELL = 5;

export function Announcer(props: {
  state: IState;
  /** Why a requested cell cannot be shown. */
  missingCell: Message | null;
  t: Translate;
}): ReactElement {
  const { state, missingCell, t } = props;
  return (
    <div className="jp-mlgpu-Hidden" role="status">
      {missingCell === null ? (endOfKernel(state, t) ?? lastEnd(state, t)) : t(missingCell)}
    </div>
  );
}

function endOfKernel({ kernel, restarted, exit }: IState, t: Translate): string | null {
  const now =
    kernel === 'dead'
      ? t('kernel_dead')
      : kernel === 'absent' && restarted
        ? t('kernelRestarted')
        : null;
  const why = exit && plain(t.say(exit.sentence));
  return now === null || why === null ? (now ?? why) : `${why} ${now}`;
}

function lastEnd({ ended }: IState, t: Translate): string {
  if (ended === null) {
    return '';
  }
  const cell = `${t('cell')} ${ended.cell.executionCount ?? ''}`.trim();
  const wall = known(ended, 'wall_time');
  const ending =
    wall === undefined || (wall.value ?? 0) < LONG_CELL
      ? ''
      : t('finishedIn', { cell, outcome: t(ended.outcome), time: figureNamed('time', ended, t) });
  const toActOn = ended.logs.some(({ verdict }) => isToActOn(verdict));
  const messages = toActOn ? messagesOf(ended, t) : '';
  return dotted(ending || (messages && cell), messages);
}
