/**
 * The state of a running cell in one line: `6.0 s of about 12 s (last time) · 2.0 cores · 849 MiB · gpu:0 94 %`.
 * Pure functions.
 */

import type { ICounters, ISample, ISeries } from './counters';
import { gaugeValue } from './gauges';
import { dotted, formatClock, formatSeconds } from '../record/format';
import type { Translate } from '../language/i18n';

/** Milliseconds after which a number is too old to be shown. */
export const LATE = 3_000;
/** Largest number of GPUs in the line; the busiest ones are named. */
const GPUS = 2;

interface IGpu {
  name: string;
  share: number | null;
  text: string;
}

/**
 * Return the line of a cell that has run for `seconds`, and took `last` seconds last time (null: unknown). `now`
 * is in milliseconds since 1970; numbers that are too old are left out.
 */
export function liveWords(
  seconds: number,
  last: number | null,
  counters: ICounters,
  now: number,
  t: Translate
): string {
  return dotted(clock(seconds, last, t), ...numbers(counters, now, t));
}

/** Return an earlier run's time in two figures, because the next one takes about as long. */
export function formatLast(seconds: number): string {
  return formatSeconds(Number(seconds.toPrecision(2)));
}

function clock(seconds: number, last: number | null, t: Translate): string {
  const time = formatClock(seconds);
  if (last === null) {
    return time;
  }
  return t(seconds <= last ? 'timeOfLast' : 'timePastLast', { time, last: formatLast(last) });
}

function numbers(counters: ICounters, now: number, t: Translate): string[] {
  const { series, samples, sampled, zero, whyStopped } = counters;
  const newest = samples.at(-1);
  if (newest === undefined || sampled === null || whyStopped !== null) {
    return [];
  }
  return now - (zero + newest.t * 1000) > LATE ? [] : figures(series, newest.values, t);
}

/** Return the process's cores and memory and the busiest GPUs, as far as they are known. */
export function figures(
  series: readonly Pick<ISeries, 'device' | 'quantity' | 'unit'>[],
  values: ISample['values'],
  t: Translate
): string[] {
  const reading = (device: string, quantity: string): [number, string] | null => {
    const index = series.findIndex(one => one.device === device && one.quantity === quantity);
    const value = values[index] ?? null;
    const unit = series[index]?.unit ?? '';
    return value === null ? null : [value, gaugeValue(value, unit, t)];
  };
  const gpus = [...new Set(series.map(({ device }) => device))].flatMap((device): IGpu[] => {
    const name = shortName(device);
    const share = reading(device, 'utilisation');
    const known = share ?? reading(device, 'power');
    return name === null || known === null
      ? []
      : [{ name, share: share?.[0] ?? null, text: `${name} ${known[1]}` }];
  });
  const busiest = [...gpus].sort((a, b) => (b.share ?? 0) - (a.share ?? 0)).slice(0, GPUS);
  return [
    reading('process', 'utilisation')?.[1] ?? '',
    reading('process', 'memory')?.[1] ?? '',
    ...gpus.filter(one => busiest.includes(one)).map(one => one.text)
  ];
}

/** Return `gpu:0` for `GPU 0 (NVIDIA H200)`; null if the device is no GPU. */
function shortName(device: string): string | null {
  const [, number = '0'] = /^GPU(?: (\d+)\b|$)/.exec(device) ?? [null, null];
  return number === null ? null : `gpu:${number}`;
}
