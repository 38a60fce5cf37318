/**
 * Records in words, as jupyter_mlgpu/show/receipts/words.py says them, in the user's language.
 */

import { formatValue } from './format';
import { isMessage } from '../language/i18n';
import type { Translate } from '../language/i18n';
import type { IReading, IRecord } from './record';

const TIMES = ['wall_time', 'cpu_time', 'device_time'];
const FRAMEWORKS = new Map([
  ['tensorflow', 'TensorFlow'],
  ['torch', 'PyTorch'],
  ['jax', 'JAX'],
  ['mlx', 'MLX']
]);

/** What stands beside them in versions. */
const LIBRARIES = new Map([
  ['keras', 'Keras'],
  ['numpy', 'NumPy'],
  ['python', 'Python']
]);

/** The readings that the bars show, in the order in which the record lists them. */
export function times(record: IRecord): (IReading & { value: number })[] {
  return record.readings.filter(
    (reading): reading is IReading & { value: number } =>
      reading.value !== null && TIMES.includes(reading.quantity)
  );
}

/** The longest of the times that bars show, in seconds; 0 where none was measured without a profiler. */
export function longestTime(record: IRecord): number {
  return Math.max(
    0,
    ...times(record).map(reading => (slowed(reading, record) ? 0 : reading.value))
  );
}

/** Whether a reading is a time that the profiler made longer, and so no timing. */
export function slowed(reading: IReading, record: IRecord): boolean {
  return (
    record.mode === 'profiled' &&
    reading.value !== null &&
    ['wall_time', 'cpu_time'].includes(reading.quantity)
  );
}

/** A quantity's reading that has a value. */
export function known(record: IRecord, quantity: string): IReading | undefined {
  return record.readings.find(reading => reading.quantity === quantity && reading.value !== null);
}

/** The name of a framework's module, or of a library beside it, as its people write it. */
export function frameworkName(name: string): string {
  return FRAMEWORKS.get(name) ?? LIBRARIES.get(name) ?? name;
}

/** What was installed: `Keras 3.11, TensorFlow 2.19.1`. */
export function versionsInWords(versions: readonly (readonly [string, string])[]): string {
  return versions.map(([name, version]) => `${frameworkName(name)} ${version}`).join(', ');
}

/** A quantity's name for people. */
export function quantityName(quantity: string, t: Translate): string {
  return named(quantity, quantity.replaceAll('_', ' '), t);
}

/** A reading's value with its unit, or that it was not measured. */
export function figure(reading: IReading, t: Translate): string {
  return reading.value === null ? t('notMeasured') : formatValue(reading.value, reading.unit);
}

/** As `figure`; of a time that the profiler made longer, it says so. */
export function shown(reading: IReading, record: IRecord, t: Translate): string {
  const said = figure(reading, t);
  return slowed(reading, record) ? t('slowed', { time: said }) : said;
}

/** Why a reading is missing, as a sentence that starts with the fact. */
export function whyMissing(reading: IReading, t: Translate): string {
  return reading.whyMissing
    ? t('notMeasuredBecause', { why: t.say(reading.whyMissing) })
    : t('notMeasured');
}

/** A fact's name for people. */
export function factName(name: string, t: Translate): string {
  return named(`fact_${name}`, name.replaceAll('_', ' '), t);
}

/** What a reading covers. */
export function scopeName(scope: string, t: Translate): string {
  return named(`${scope}Scope`, scope, t);
}

function named(message: string, otherwise: string, t: Translate): string {
  return isMessage(message) ? t(message) : otherwise;
}

/** The energy that a list tells of: the GPU's, as a receipt does, or the one figure there is. */
export function energyOf(record: IRecord): IReading | undefined {
  const readings = record.readings.filter(
    ({ quantity, value }) => quantity === 'energy' && value !== null
  );
  if (readings.length === 0) {
    return undefined;
  }
  const ofDevices = readings.filter(({ scope }) => scope === 'device');
  const others = readings.filter(({ scope }) => scope !== 'device');
  const framework = record.versions.some(([name]) => FRAMEWORKS.has(name));
  const onDevice = record.ranOn === null || record.ranOn.some(({ kind }) => kind !== 'cpu');
  if (ofDevices.length === 1 && framework && onDevice) {
    return ofDevices[0];
  }
  return others.length === 1 ? others[0] : undefined;
}
