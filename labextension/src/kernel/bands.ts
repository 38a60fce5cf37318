/** Where in the live charts cells ran: each a band over the time that it took. Pure functions. */

import type { ICounters } from './counters';
import { span } from './gauges';
import type { IState } from './state';
import { figures } from '../record/figures';
import type { ICell } from '../record/record';

/** Cells with a band, at most: the newest. */
const MOST = 40;
/** Part of the chart's width that is still seen. */
const NARROWEST = 0.004;

export interface IBand {
  key: string;
  cell: ICell;
  /** Parts of the chart's width, from its left edge. */
  from: number;
  to: number;
}

/**
 * The cells of this run of the kernel that the charts show, oldest first. `clock` gives milliseconds of this browser's
 * monotonic clock. The kernel's clock places cells that have ended, and it is known once a sample came by itself.
 */
export function bands(
  counters: ICounters,
  state: IState,
  clock = () => performance.now()
): IBand[] {
  const seconds = span(counters);
  const newest = Date.parse(counters.sampled ?? '');
  const found: IBand[] = [];
  const add = (key: string, cell: ICell, begin: number, end: number): boolean => {
    const [from, to] = [1 + begin / seconds, Math.min(1, 1 + end / seconds)];
    if (to > 0 && from < 1) {
      found.push({ key, cell, from: Math.max(0, from), to: Math.max(to, from + NARROWEST) });
    }
    return to > 0;
  };
  for (const { cell, elapsed, seenAt } of state.running) {
    add(`running ${cell.sequence}`, cell, -elapsed - (clock() - seenAt) / 1000, 0);
  }
  for (const { key, record } of state.entries.toReversed()) {
    if (record.runId !== state.run || found.length >= MOST) {
      continue;
    }
    const begin = (Date.parse(record.startedAt) - newest) / 1000;
    const wall = figures(record).wall ?? 0;
    if (!Number.isFinite(begin) || !add(key, record.cell, begin, begin + wall)) {
      break;
    }
  }
  return found.reverse();
}

/** The bands as a picture behind a chart: two tints in turn, so that one cell ends where the next begins. */
export function asBackground(found: readonly IBand[]): string {
  const stops = found.flatMap(({ from, to }, index) => {
    const tint = `var(--jp-mlgpu-band-${index % 2})`;
    const [begin, end] = [from, to].map(part => `${(part * 100).toFixed(2)}%`);
    return [`transparent ${begin}`, `${tint} ${begin}`, `${tint} ${end}`, `transparent ${end}`];
  });
  return stops.length === 0 ? 'none' : `linear-gradient(to right, ${stops.join(', ')})`;
}
