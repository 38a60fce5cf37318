/** Live counters as the sidebar draws them: by device, as curves and as a table. Pure functions. */

import type { ICounters, ISample, ISeries } from './counters';
import { formatBytes, formatSeconds, formatShare, formatValue } from '../record/format';
import type { Translate } from '../language/i18n';
import type { Sentence } from '../language/sentence';
import type { CurvePoint } from '../record/curve';
import { grouped } from '../record/sorting';
import { quantityName } from '../record/words';

/** Not translated. */
const CPU = 'CPU';
const GPU = 'GPU';

/** Seconds between two rows of the table, long enough to read a row. */
const ROW = 10;
/** A pause longer than this many sampling intervals is a gap in the curve. */
const GAP = 4;
/** Seconds that the charts can cover, so that they are not drawn on another scale with each sample. */
const SPANS = [60, 120, 300];

/** One curve, with its place in each sample. */
export interface IGauge extends ISeries {
  index: number;
}

/** The curves of one device, of the machine, or of the process. */
export interface IGroup {
  device: string;
  gauges: IGauge[];
  /** The reason why the whole group is unknown; null if something is known, or if reasons differ. */
  whyMissing: Sentence | null;
}

export function groups(series: readonly ISeries[]): IGroup[] {
  const all: IGauge[] = series.map((one, index) => ({ ...one, index }));
  return [...grouped(all, ({ device }) => device)].map(([device, gauges]) => {
    const reasons = new Map(gauges.map(one => [JSON.stringify(one.whyMissing), one.whyMissing]));
    const [whyMissing = null] = reasons.values();
    return { device, gauges, whyMissing: reasons.size === 1 ? whyMissing : null };
  });
}

/** Return the curve of a series, in seconds before the newest sample, 0 or less. */
export function points({ samples, interval }: ICounters, index: number): CurvePoint[] {
  const end = samples.at(-1)?.t ?? 0;
  const found: CurvePoint[] = [];
  let before: ISample | undefined;
  for (const sample of samples) {
    if (before !== undefined && sample.t - before.t > GAP * interval) {
      found.push([(before.t + sample.t) / 2 - end, null]);
    }
    found.push([sample.t - end, sample.values[index] ?? null]);
    before = sample;
  }
  return found;
}

/** Return the number of seconds that the charts cover. */
export function span({ samples }: ICounters): number {
  const sampled = (samples.at(-1)?.t ?? 0) - (samples[0]?.t ?? 0);
  return SPANS.find(seconds => seconds >= sampled) ?? sampled;
}

/** Return the sample at a time in seconds before the newest one, 0 or less; null in a gap. */
export function sampleAt({ samples, interval }: ICounters, seconds: number): ISample | null {
  const time = (samples.at(-1)?.t ?? 0) + seconds;
  let found: ISample | null = null;
  let nearest = (GAP * interval) / 2;
  for (const sample of samples) {
    const distance = Math.abs(sample.t - time);
    if (distance <= nearest) {
      [found, nearest] = [sample, distance];
    }
  }
  return found;
}

/** Return a time in seconds before the newest sample in words: `now`, `60 s ago`, `2 min ago`. */
export function ago(seconds: number, t: Translate): string {
  const whole = Math.round(-seconds);
  if (whole <= 0) {
    return t('axisNow');
  }
  const time = whole <= 60 ? `${whole} s` : formatSeconds(whole).replace(/ 00 s$/, '');
  return t('ago', { time });
}

/** Return the lowest and the highest value; null if none is known. */
export function extremes(
  { samples }: ICounters,
  index: number
): [low: number, high: number] | null {
  const known = samples.flatMap(({ values }) => values[index] ?? []);
  return known.length > 0 ? [Math.min(...known), Math.max(...known)] : null;
}

/** Return the top of a chart: the limit, or without one a round number above the highest value. */
export function top(limit: number | null, highest: number, unit: string): number {
  if (limit !== null && limit > 0) {
    return limit;
  }
  if (highest <= 0) {
    return 1;
  }
  const prefix = unit === 'bytes' ? 1024 ** Math.floor(Math.log2(highest) / 10) : 1;
  const power = prefix * 10 ** Math.floor(Math.log10(highest / prefix));
  return ([1, 2, 5].find(step => step * power >= highest) ?? 10) * power;
}

/** Return the rows of the table, newest first: the last sample of every ten seconds of the day. */
export function rows(counters: ICounters): { at: number; values: readonly (number | null)[] }[] {
  const found = new Map<number, ISample>();
  for (const sample of counters.samples) {
    found.set(Math.floor((counters.zero / 1000 + sample.t) / ROW) * ROW, sample);
  }
  return [...found].map(([at, { values }]) => ({ at: at * 1000, values })).reverse();
}

/** Return a value with its unit. */
export function gaugeValue(value: number, unit: string, t: Translate): string {
  switch (unit) {
    case 'share':
      return formatShare(value);
    case 'bytes':
      return formatBytes(value);
    case 'cores':
      return t('cores', {
        count: value >= 10 || Number.isInteger(value) ? Math.round(value) : value.toFixed(1)
      });
    default:
      return formatValue(value, unit);
  }
}

/** Return the name of a curve: `CPU`, `Memory`, `GPU`, `GPU memory`, or its quantity. */
export function gaugeName({ device, quantity }: ISeries, t: Translate): string {
  const isHost = device === 'machine' || device === 'process';
  if (quantity === 'utilisation') {
    return isHost ? CPU : GPU;
  }
  return quantity === 'memory' && !isHost ? t('gpuMemory') : quantityName(quantity, t);
}

/** Return `machine` and `process` in the user's language, and a device's own name unchanged. */
export function groupName(device: string, t: Translate): string {
  return device === 'machine' || device === 'process' ? t(`${device}Gauges`) : device;
}
