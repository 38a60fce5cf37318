/** Bands in the live charts, each over the time that a cell ran. Pure functions. */

import type { ICounters } from './counters';
import { span } from './gauges';
import type { IState } from './state';
import { figures } from '../record/figures';
import type { ICell } from '../record/record';

/** Largest number of cells with a band; the newest get one. */
const MOST = 40;
/** Smallest part of the chart's width that is still visible. */
const NARROWEST = 0.004;

export interface IBand {
  key: string;
  cell: ICell;
  /** Parts of the chart's width, from its left edge. */
  from: number;
  to: number;
}

/**
 * Return the cells of this kernel run that the charts cover, oldest first. `clock` gives milliseconds of this
 * browser's monotonic clock. Cells that have ended are placed by the kernel's clock, known once a sample has
 * arrived by itself.
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
  for (const { cell, elapsed, receivedAt } of state.running) {
    add(`running ${cell.sequence}`, cell, -elapsed - (clock() - receivedAt) / 1000, 0);
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

/** Return the bands as a CSS background. Two tints alternate, so that neighbouring cells are distinct. */
export function asBackground(found: readonly IBand[]): string {
  const stops = found.flatMap(({ from, to }, index) => {
    const tint = `var(--jp-mlgpu-band-${index % 2})`;
    const [begin, end] = [from, to].map(part => `${(part * 100).toFixed(2)}%`);
    return [`transparent ${begin}`, `${tint} ${begin}`, `${tint} ${end}`, `transparent ${end}`];
  });
  return stops.length === 0 ? 'none' : `linear-gradient(to right, ${stops.join(', ')})`;
}
