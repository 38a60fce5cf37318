/** The cell that runs now, with a clock that ticks. */

import { useEffect, useState } from 'react';
import type { ReactElement } from 'react';

import { dotted, formatClock } from '../record/format';
import type { Translate } from '../language/i18n';
import type { IRunningCell } from '../kernel/state';
import type { ICell } from '../record/record';

/** Milliseconds between two ticks, and where the user asked for less motion. */
const TICK = 200;
const SLOW_TICK = 1000;

export function RunningCell(props: {
  running: IRunningCell;
  onGo: (cellId: string) => void;
  t: Translate;
}): ReactElement {
  const { running, onGo, t } = props;
  const { id } = running.cell;
  return (
    <section className="jp-mlgpu-Running" aria-label={t('running')}>
      <div className="jp-mlgpu-Running-line">
        <span className="jp-mlgpu-Running-mark" aria-hidden="true" />
        <span>{t('running')}</span>
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
      <Phase running={running} t={t} />
    </section>
  );
}

/** What the kernel knows of where the cell is: a run of several, a profiler, a command's own words. */
function Phase(props: { running: IRunningCell; t: Translate }): ReactElement | null {
  const { running, t } = props;
  const { profiled, run, progress } = running;
  const known = dotted(
    run && t('runOf', { number: run.number, of: run.of }),
    profiled && t('profilerOn'),
    progress !== null && t.say(progress)
  );
  return known ? <p className="jp-mlgpu-Running-phase">{known}</p> : null;
}

/** A cell's execution count, as the notebook writes it, and its first line of code. */
export function CellName(props: { cell: ICell; running?: boolean }): ReactElement {
  const { cell, running = false } = props;
  const { executionCount, name } = cell;
  return (
    <>
      <span className="jp-mlgpu-Count">{`[${running ? '*' : (executionCount ?? ' ')}]`}</span>
      <code className="jp-mlgpu-Name" title={name}>
        {name}
      </code>
    </>
  );
}

/**
 * Seconds the cell has run: what the kernel said, and what has passed here since it said so. The two
 * machines' clocks are never compared.
 */
function Clock(props: { running: IRunningCell }): ReactElement {
  const { elapsed, seenAt } = props.running;
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    const slow = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
    const tick = (): void => setNow(performance.now());
    tick();
    const timer = setInterval(tick, slow ? SLOW_TICK : TICK);
    return () => clearInterval(timer);
  }, [seenAt]);
  const seconds = elapsed + Math.max(0, now - seenAt) / 1000;
  return (
    <span className="jp-mlgpu-Clock" role="timer" aria-live="off">
      {formatClock(seconds)}
    </span>
  );
}
