/**
 * The running cell in one line: its time so far, its cores and memory, and the busiest GPUs. The kernel sends it
 * about once a second (jupyter_mlgpu/jupyter/notebook/browser/live_cell.py); the clock ticks here in between.
 */

import { useEffect, useState, type ReactElement } from 'react';

import { figures, LATE } from '../kernel/livewords';
import { readCounterSeries, readRunning } from '../kernel/messages';
import type { Translate } from '../language/i18n';
import {
  amount,
  listOf,
  object,
  orEmpty,
  or,
  placesOf,
  shape,
  type Read
} from '../language/untrusted';
import { dotted, formatClock } from '../record/format';
import { useAge } from '../receipts/useAge';
import { CellName } from '../sidebar/RunningCell';
import type { IModel } from './model';

/** Milliseconds that a cell has run before it gets a line; most cells are shorter. */
const SHORTEST = 1_000;
/** Milliseconds without a message after which the clock stops: the kernel may be dead. */
const SILENT = 5_000;
/** More series than the kernel sends. */
const MANY = 256;

const readCounters = shape(
  {},
  {
    series: listOf(orEmpty(readCounterSeries), MANY),
    values: or([], placesOf(amount, MANY))
  }
);

const readLive = shape({ running: readRunning }, { counters: orEmpty(readCounters) });

/** The kernel's last message. */
interface ILive extends Read<typeof readLive> {
  /** Milliseconds on this browser's monotonic clock at its arrival. */
  receivedAt: number;
}

/** The line of the running cell; nothing while none runs. */
export function LiveCell(props: { model: IModel; t: Translate }): ReactElement | null {
  const { model, t } = props;
  const [live, setLive] = useState<ILive | null>(null);
  useEffect(() => {
    const hear = (content: unknown): void => {
      const message = object(content);
      if (message !== null && 'live' in message) {
        const known = readLive(message.live);
        setLive(known && { ...known, receivedAt: performance.now() });
      }
    };
    model.on('msg:custom', hear);
    return () => model.off('msg:custom', hear);
  }, [model]);
  return live && <Line live={live} t={t} />;
}

function Line(props: { live: ILive; t: Translate }): ReactElement | null {
  const { live, t } = props;
  const { running, counters, receivedAt } = live;
  const age = useAge(receivedAt);
  const isSilent = age >= SILENT;
  if (running.elapsed * 1000 + age < SHORTEST) {
    return null;
  }
  // What the kernel has not told is not counted on: a dead kernel must not look alive.
  const seconds = running.elapsed + (isSilent ? 0 : age / 1000);
  return (
    <section className="jp-mlgpu-Running" aria-label={t('running')}>
      <div className="jp-mlgpu-Running-line">
        <CellName cell={running.cell} running />
        <span
          className="jp-mlgpu-Clock"
          role="timer"
          aria-live="off"
          aria-label={t('liveLine')}
          data-silent={isSilent}
        >
          {dotted(
            formatClock(seconds),
            ...(age > LATE ? [] : figures(counters.series, counters.values, t)),
            isSilent && t('noNews', { seconds: Math.floor(age / 1000) })
          )}
        </span>
      </div>
    </section>
  );
}
