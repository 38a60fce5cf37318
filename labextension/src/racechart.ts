/**
 * Where the points, spreads and ticks of a race's chart stand: time against size, both logarithmic, or a
 * bar a device where there are no sizes. Pure functions; views/race draws.
 */

import { formatSeconds } from './format';
import { decades, logarithmic, ticks } from './logscale';
import type { IRoom, ITick, Scale } from './logscale';
import type { IRace, ITiming } from './race';

export interface IPoint {
  x: number;
  y: number;
  /** Where the spread begins and ends; null: a single run has none. */
  spread: readonly [low: number, high: number] | null;
  size: number;
  timing: ITiming;
}

export interface ICurves {
  xTicks: ITick[];
  yTicks: ITick[];
  /** A list of points a lane. */
  lanes: IPoint[][];
  /** Where devices change places, and between which sizes this lies. */
  crossovers: { x: number; from: number; to: number; device: string; size: number }[];
}

/** The curves of a race over sizes; null where no time above 0 was measured at a size above 0. */
export function curves(race: IRace, room: IRoom): ICurves | null {
  const found = race.lanes.map(lane =>
    race.sizes.flatMap((size, index) => {
      const timing = lane.timings[index];
      return size !== null && size > 0 && timing && timing.median > 0 ? [{ size, timing }] : [];
    })
  );
  const sizes = found.flat().map(({ size }) => size);
  const times = found.flat().flatMap(({ timing }) => [timing.median, ...(timing.spread ?? [])]);
  const across = decades(sizes);
  const up = decades(times.filter(time => time > 0));
  if (across === null || up === null) {
    return null;
  }
  const x = logarithmic(across, room.left, room.right);
  const y = logarithmic(up, room.bottom, room.top);
  return {
    xTicks: ticks(across, room.right - room.left, 44, x, formatSize),
    yTicks: ticks(up, room.bottom - room.top, 18, y, formatTime),
    lanes: found.map(points =>
      points.map(({ size, timing }) => ({
        x: x(size),
        y: y(timing.median),
        spread: timing.spread && timing.spread[0] > 0 ? both(timing.spread, y) : null,
        size,
        timing
      }))
    ),
    crossovers: race.crossovers
      .filter(({ low }) => low > 0)
      .map(({ large, size, low, high }) => ({
        x: x(size),
        from: x(low),
        to: x(high),
        device: large,
        size
      }))
  };
}

export interface IBars {
  yTicks: ITick[];
  /** One a lane; null: not measured. */
  bars: ({ x: number; y: number; width: number; spread: IPoint['spread'] } | null)[];
}

/** The bars of a race without sizes, from 0 on; null where nothing was measured. */
export function bars(race: IRace, room: IRoom): IBars | null {
  const timings = race.lanes.map(lane => lane.timings[0] ?? null);
  const highest = Math.max(
    0,
    ...timings.flatMap(one => (one ? [one.median, one.spread?.[1] ?? 0] : []))
  );
  if (highest <= 0) {
    return null;
  }
  const y: Scale = value => room.bottom - ((room.bottom - room.top) * value) / (highest * 1.05);
  const step = stepBelow(highest / 4);
  const wide = (room.right - room.left) / race.lanes.length;
  return {
    yTicks: Array.from({ length: Math.floor((highest * 1.05) / step) + 1 }, (_, index) => ({
      at: y(index * step),
      label: index === 0 ? '0' : formatTime(index * step)
    })),
    bars: timings.map(
      (one, index) =>
        one && {
          x: room.left + wide * (index + 0.25),
          y: y(one.median),
          width: wide / 2,
          spread: one.spread && both(one.spread, y)
        }
    )
  };
}

/** A size as people write it: `1,000`, `1e7`, `0.5`; as page.py's `number`. */
export function formatSize(size: number): string {
  if (Number.isInteger(size) && size < 1e6) {
    return size.toLocaleString('en');
  }
  return String(Number(size.toPrecision(4))).length <= 6
    ? String(Number(size.toPrecision(4)))
    : Number(size.toPrecision(4)).toExponential().replace('e+', 'e');
}

/** Seconds, also those of which a record's figures never have so few. */
export function formatTime(seconds: number): string {
  return seconds < 0.9995e-6
    ? `${Number((seconds * 1e9).toPrecision(3))} ns`
    : seconds < 0.9995e-3
      ? `${Number((seconds * 1e6).toPrecision(3))} µs`
      : formatSeconds(seconds);
}

/** A median with its spread in brackets. */
export function formatTiming({ median, spread }: ITiming): string {
  return spread
    ? `${formatTime(median)} (${formatTime(spread[0])} – ${formatTime(spread[1])})`
    : formatTime(median);
}

/** 1, 2 or 5 times a power of ten, at most `value`. */
function stepBelow(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * (value / power >= 5 ? 5 : value / power >= 2 ? 2 : 1);
}

function both([low, high]: readonly [number, number], scale: Scale): readonly [number, number] {
  return [scale(low), scale(high)];
}
