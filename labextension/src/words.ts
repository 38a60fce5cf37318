/**
 * Records in words, as jupyter_mlgpu/render/words.py says them, in the user's language.
 */

import { formatBytes, formatSeconds, formatShare, formatValue } from './format';
import { isMessage } from './i18n';
import type { Translate } from './i18n';
import type { IRanOn, IReading, IRecord } from './record';

const TIMES = ['wall_time', 'cpu_time', 'device_time'];
const FRAMEWORKS = ['tensorflow', 'torch', 'jax', 'mlx'];

/** The readings that the bars show, in the order in which the record lists them. */
export function times(record: IRecord): IReading[] {
  return record.readings.filter(reading => TIMES.includes(reading.quantity));
}

/** The longest of the times that bars show, in seconds; 0 where none was measured. */
export function longestTime(record: IRecord): number {
  return Math.max(0, ...times(record).map(reading => reading.value ?? 0));
}

/** The value of a quantity; null where it is missing. */
export function valueOf(record: IRecord, quantity: string): number | null {
  return record.readings.find(reading => reading.quantity === quantity)?.value ?? null;
}

/** A quantity's name for people. */
export function quantityName(quantity: string, t: Translate): string {
  return isMessage(quantity) ? t(quantity) : quantity.replaceAll('_', ' ');
}

/** A reading's value with its unit, or that it was not measured. */
export function figure(reading: IReading, t: Translate): string {
  return reading.value === null ? t('notMeasured') : formatValue(reading.value, reading.unit);
}

/** As `figure`; of a profiled cell, a time that the profiler made longer says so. */
export function shown(reading: IReading, record: IRecord, t: Translate): string {
  const said = figure(reading, t);
  return slowed(reading, record) ? t('slowed', { time: said }) : said;
}

/** Whether a reading is a time of Python in a profiled cell, and so no timing. */
function slowed(reading: IReading, record: IRecord): boolean {
  return (
    record.mode === 'profiled' &&
    reading.value !== null &&
    ['wall_time', 'cpu_time'].includes(reading.quantity)
  );
}

/** Why a reading is missing, as a sentence that starts with the fact. */
export function whyMissing(reading: IReading, t: Translate): string {
  return reading.whyMissing
    ? t('notMeasuredBecause', { why: reading.whyMissing })
    : t('notMeasured');
}

/** A fact's name for people. */
export function factName(name: string, t: Translate): string {
  const message = `fact_${name}`;
  return isMessage(message) ? t(message) : name.replaceAll('_', ' ');
}

/** What a reading covers. */
export function scopeName(scope: string, t: Translate): string {
  const message = `${scope}Scope`;
  return isMessage(message) ? t(message) : scope;
}

/** Where the cell's work ran; says so where that is not what was asked for. Empty without a framework. */
export function place(record: IRecord, t: Translate): string {
  const { ranOn, requested } = record;
  const named = whereItRan(record, t);
  const elsewhere =
    requested !== null && ranOn?.some(entry => entry.device !== asked(requested, entry));
  return elsewhere ? t('askedButRan', { device: requested, place: named }) : named;
}

/** The device asked for of an entry's framework: `gpu:0` of `torch gpu:0, tensorflow cpu:0`. */
function asked(requested: string, entry: IRanOn): string {
  if (!requested.includes(' ')) {
    return requested;
  }
  const own = requested.split(', ').find(one => one.startsWith(`${entry.framework} `));
  return own === undefined ? entry.device : own.slice(entry.framework.length + 1);
}

/** The record in one line, without how it ended. */
export function line(record: IRecord, t: Translate): string {
  const wall = valueOf(record, 'wall_time');
  const cpu = record.mode === 'profiled' ? null : valueOf(record, 'cpu_time');
  return [
    wall === null ? `${t('wall_time')}: ${t('notMeasured')}` : wallTime(wall, record, t),
    place(record, t),
    cpu === null ? '' : `${t('cpu_time')} ${formatSeconds(cpu)}`,
    peakMemory(record, t)
  ]
    .filter(Boolean)
    .join(' · ');
}

/** How long a cell took; of a profiled one, with the profiler on. */
export function wallTime(seconds: number, record: IRecord, t: Translate): string {
  const time = formatSeconds(seconds);
  return record.mode === 'profiled' ? t('slowed', { time }) : time;
}

/** Peak memory of the process in words; empty where it is missing. */
export function peakMemory(record: IRecord, t: Translate): string {
  const peak = valueOf(record, 'peak_memory_process');
  return peak === null ? '' : t('peak', { memory: formatBytes(peak) });
}

function whereItRan(record: IRecord, t: Translate): string {
  const { ranOn } = record;
  if (ranOn === null) {
    const framework = record.versions.some(([name]) => FRAMEWORKS.includes(name));
    return record.whyDeviceMissing !== null && framework ? t('deviceUnknown') : '';
  }
  if (ranOn.length === 0) {
    return t('ranNowhere');
  }
  const devices = ranOn.map(({ device, share }) =>
    ranOn.length === 1 || share === null ? device : `${device} ${formatShare(share)}`
  );
  return t('ranOn', { devices: devices.join(', ') });
}
