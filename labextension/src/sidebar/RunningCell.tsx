/** The running cell with a clock, or the last cell in the same place. */

import { useEffect, type ReactElement } from 'react';

import { cellNumber } from '../record/cell';
import { dotted, formatClock } from '../record/format';
import type { Translate } from '../language/i18n';
import { formatLast } from '../kernel/livewords';
import type { IEntry, IRunningCell } from '../kernel/state';
import { figureInWords } from '../record/cellwords';
import type { ICell } from '../record/record';
import type { NotebookSession } from '../kernel/notebooks';
import { lanesSoFar } from '../record/strip';
import { Lanes, Strip } from '../receipts/Strip';
import { useAge } from '../receipts/useAge';
import { usePreferences } from '../receipts/usePreferences';
import { useSignal } from '../receipts/useSignal';

/** Milliseconds after which a cell's strip is requested. */
const ASK_AFTER = 1000;
/** Height of the strip in points, whatever the number of lanes. */
const STRIP = 28;

export function RunningCell(props: {
  running: IRunningCell;
  session: NotebookSession;
  onGo: (cellId: string) => void;
  t: Translate;
}): ReactElement {
  const { running, session, onGo, t } = props;
  const { id } = running.cell;
  return (
    <section className="jp-mlgpu-Running" aria-label={t('running')}>
      <div className="jp-mlgpu-Running-line">
        <span className="jp-mlgpu-Running-mark" aria-hidden="true" />
        <span>{t('running')}</span>
        <Phase running={running} last={session.model.lastTime(running)} t={t} />
        <Clock running={running} />
      </div>
      <button
        type="button"
        className="jp-mlgpu-Go"
        title={t('goToCell')}
        disabled={id === null}
        onClick={() => id !== null && onGo(id)}
      >
        <CellName cell={running.cell} running />
      </button>
      <StripSoFar running={running} session={session} t={t} />
    </section>
  );
}

/** The strip of the running cell. It comes with the live counters, which short cells do not request. */
function StripSoFar(props: {
  running: IRunningCell;
  session: NotebookSession;
  t: Translate;
}): ReactElement | null {
  const { running, session, t } = props;
  const { counters } = session;
  const { liveGauges } = usePreferences();
  const { sequence } = running.cell;
  useEffect(() => {
    const timer = setTimeout(() => session.requestCounters(liveGauges, 'strip'), ASK_AFTER);
    return () => {
      clearTimeout(timer);
      session.requestCounters(false, 'strip');
    };
  }, [session, sequence, liveGauges]);
  const { strip } = useSignal(counters.changed, () => counters.value);
  if (strip?.sequence !== sequence) {
    return null;
  }
  const lanes = lanesSoFar(strip);
  const { seconds: duration } = strip;
  return lanes.length === 0 ? null : (
    <Lanes {...{ lanes, duration, ended: null, height: STRIP, t }} />
  );
}

/** The cell that ran last, while none runs. */
export function LastCell(props: {
  entry: IEntry | undefined;
  onGo: (entry: IEntry) => void;
  t: Translate;
}): ReactElement {
  const { entry, onGo, t } = props;
  return (
    <section className="jp-mlgpu-LastCell" aria-label={t('lastCell')}>
      <div className="jp-mlgpu-Running-line">{t('noCellRuns')}</div>
      {entry && (
        <button
          type="button"
          className="jp-mlgpu-Go"
          title={t('goToCell')}
          onClick={() => onGo(entry)}
        >
          <CellName cell={entry.record.cell} />{' '}
          <span className="jp-mlgpu-Clock">{figureInWords(entry.record, 'newest', t)}</span>
        </button>
      )}
      {entry && <Strip record={entry.record} height={STRIP} t={t} />}
    </section>
  );
}

/**
 * The kernel's description of the cell's progress (number of the run, profiler, or a command's own words), and
 * the time that the cell took last.
 */
function Phase(props: {
  running: IRunningCell;
  last: number | null;
  t: Translate;
}): ReactElement | null {
  const { running, last, t } = props;
  const { mode, run, progress } = running;
  const known = dotted(
    run && t('runOf', { number: run.number, of: run.of }),
    mode === 'profiled' && t('profilerOn'),
    mode === 'checked' && t('checkOn'),
    progress !== null && t.say(progress),
    last !== null && t('lastTime', { time: formatLast(last) })
  );
  return known ? (
    <span className="jp-mlgpu-Running-phase" title={known}>
      {known}
    </span>
  ) : null;
}

/** A cell's execution count, as the notebook writes it, and its title. */
export function CellName(props: { cell: ICell; running?: boolean }): ReactElement {
  const { cell, running = false } = props;
  const { name } = cell;
  return (
    <>
      <span className="jp-mlgpu-Count">{running ? '[*]' : cellNumber(cell)}</span>{' '}
      <code className="jp-mlgpu-Name" title={name}>
        {name}
      </code>
    </>
  );
}

/**
 * Seconds the cell has run: the kernel's figure plus the time since its arrival here. The clocks of the two
 * machines are never compared.
 */
function Clock(props: { running: IRunningCell }): ReactElement {
  const { elapsed, receivedAt } = props.running;
  const seconds = elapsed + useAge(receivedAt) / 1000;
  return (
    <span className="jp-mlgpu-Clock" role="timer" aria-live="off">
      {formatClock(seconds)}
    </span>
  );
}
