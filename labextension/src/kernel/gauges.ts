/**
 * Live counters as the sidebar shows them: by device, as lines of a chart and as a table. Pure functions.
 */

import type { ICounters, ISample, ISeries } from './counters';
import { formatBytes, formatShare, formatValue } from '../record/format';
import type { Translate } from '../language/i18n';
import type { Sentence } from '../language/sentence';
import type { CurvePoint } from '../record/curve';
import { grouped } from '../record/sorting';

/** Seconds between two rows of a table, so that a row stays long enough to be read. */
const ROW = 10;
/** More than so many times the usual pause between two samples is a gap: nobody looked. */
const GAP = 4;
/** What a chart has room for at least, in some units: less of it is a machine that rests. */
const LEAST = new Map([
  ['share', 0.1],
  ['cores', 0.1]
]);
/** Seconds that a chart shows at least. */
const SHORTEST = 60;

/** One line of a chart, with its place in each sample. */
export interface IGauge extends ISeries {
  index: number;
}

/** What belongs to one device, the machine or the process. */
export interface IGroup {
  device: string;
  gauges: IGauge[];
  /** The one reason why nothing of it is known; null: something is, or there are several. */
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

/** The curve of a series, in seconds before the newest sample, 0 or less. */
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

/** How many seconds the charts show. */
export function span({ samples }: ICounters): number {
  return Math.max(SHORTEST, (samples.at(-1)?.t ?? 0) - (samples[0]?.t ?? 0));
}

/** The lowest and the highest value there was; null: none was known. */
export function extremes(
  { samples }: ICounters,
  index: number
): [low: number, high: number] | null {
  const known = samples.flatMap(({ values }) => values[index] ?? []);
  return known.length > 0 ? [Math.min(...known), Math.max(...known)] : null;
}

/** Top of a chart: a round number above the highest value, so that what there is fills it; at most the limit. */
export function top(limit: number | null, highest: number, unit: string): number {
  const most = limit === null || limit <= 0 ? Infinity : Math.max(limit, highest);
  const seen = Math.max(highest, LEAST.get(unit) ?? 0);
  if (seen <= 0) {
    return Math.min(1, most);
  }
  const prefix = unit === 'bytes' ? 1024 ** Math.floor(Math.log2(seen) / 10) : 1;
  const power = prefix * 10 ** Math.floor(Math.log10(seen / prefix));
  return Math.min(([1, 2, 5].find(step => step * power >= seen) ?? 10) * power, most);
}

/** The first of the highest values there were, and when: part of the chart's width from its left edge. */
export function peak(counters: ICounters, index: number): { value: number; at: number } | null {
  let found: { value: number; at: number } | null = null;
  for (const [seconds, value] of points(counters, index)) {
    if (value !== null && (found === null || value > found.value)) {
      found = { value, at: 1 + seconds / span(counters) };
    }
  }
  return found;
}

/** Rows of a table, newest first: every ten seconds of the day, the newest sample until then. */
export function rows(counters: ICounters): { at: number; values: readonly (number | null)[] }[] {
  const found = new Map<number, ISample>();
  for (const sample of counters.samples) {
    found.set(Math.floor((counters.zero / 1000 + sample.t) / ROW) * ROW, sample);
  }
  return [...found].map(([at, { values }]) => ({ at: at * 1000, values })).reverse();
}

/** A value with its unit. */
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

/** `machine` and `process` in the user's language; a device's own name as it is. */
export function groupName(device: string, t: Translate): string {
  return device === 'machine' || device === 'process' ? t(`${device}Gauges`) : device;
}
