/**
 * Records in words, as jupyter_mlgpu/show/receipts/words.py says them, in the user's language.
 */

import { dotted, formatBytes, formatSeconds, formatShare, formatValue } from './format';
import { isMessage } from '../language/i18n';
import type { Translate } from '../language/i18n';
import { clause, isGpuTime } from './limits';
import type { IReading, IRecord } from './record';
import { isWarmUp, median, timedRuns } from './repeat';
import { inWords, requestedOf } from './requested';

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

/** Where the cell's work ran; says so where that is not what was asked for. Empty without a framework. */
export function place(record: IRecord, t: Translate): string {
  const { ranOn, only, requested } = record;
  const named = whereItRan(record, t);
  const places = ranOn?.map(({ framework, device }) => [framework, device] as const) ?? only;
  const elsewhere =
    named !== '' &&
    places.some(([framework, device]) => device !== (requestedOf(requested, framework) ?? device));
  return elsewhere ? t('askedButRan', { device: inWords(requested), place: named }) : named;
}

/** What is to be known before a record's figures: where it comes from, how it ended, and with what it was made. */
export function labels(record: IRecord, t: Translate): string {
  const { origin, outcome } = record;
  return dotted(
    origin !== 'live' && t(origin),
    outcome !== 'ok' && t(outcome),
    record.mode === 'profiled' && t('profiled'),
    isWarmUp(record) && t('warmUp')
  );
}

/** The timing of a cell that repeats, in the record of its last run; empty elsewhere. */
function timingInWords(record: IRecord, t: Translate): string {
  const walls = timedRuns(record);
  const time = formatSeconds(median(walls));
  return walls.length > 0 ? t('medianOfRuns', { median: time, count: walls.length }) : '';
}

/** Why GPU time is not known yet, as jupyter_mlgpu/record/gpu_work.py says it. */
const STILL_AT_WORK = 'The GPU was still at work on this cell, or its records were not there yet.';
/** What a GPU did after the code is told from so many seconds on, and from such a part of the time on. */
const TAIL_SECONDS = 0.001;
const TAIL_SHARE = 0.01;

/** The figures that matter, the most important first, as jupyter_mlgpu/show/receipts/words.py chooses them. */
export function headline(record: IRecord, t: Translate): string[] {
  const wall = known(record, 'wall_time');
  const busy = gpuBusy(record, t);
  return [
    timingInWords(record, t) ||
      (wall ? shown(wall, record, t) : `${t('wall_time')}: ${t('notMeasured')}`),
    busy,
    busy && isGpuTime(record.limit) ? '' : clause(record.limit, t),
    record.ranOn?.length === 0 ? '' : place(record, t),
    peakMemory(record, t)
  ].filter(Boolean);
}

/** The busiest GPU's part of the time until all was done; empty where none worked, or where it is not known. */
function gpuBusy(record: IRecord, t: Translate): string {
  const wentOn = Math.max(0, ...record.gpuWork.map(work => work.wentOn));
  const duration = (known(record, 'wall_time')?.value ?? 0) + (record.asynchronous ? wentOn : 0);
  const [busiest, ...others] = record.readings
    .filter(
      ({ quantity, value, samples }) =>
        quantity === 'device_time' && (value ?? 0) > 0 && (samples ?? 0) > 0
    )
    .sort((one, other) => (other.value ?? 0) - (one.value ?? 0));
  if (record.mode === 'profiled' || duration === 0 || busiest === undefined) {
    return isStillAtWork(record) ? t('gpuStillAtWork') : '';
  }
  const share = formatShare(Math.min(1, (busiest.value ?? 0) / duration));
  const device = others.length === 0 ? 'GPU' : (busiest.device ?? 'GPU');
  if (busiest.scope === 'process') {
    // What a driver counts for the process is coarse; what is recorded of a device is not.
    return t('gpuBusyAbout', { device, share });
  }
  return wentOn < Math.max(TAIL_SECONDS, TAIL_SHARE * duration)
    ? t('gpuBusy', { device, share })
    : t('gpuBusyOn', { device, share, time: formatSeconds(wentOn) });
}

function isStillAtWork({ readings }: IRecord): boolean {
  return readings.some(
    ({ quantity, whyMissing: why }) =>
      quantity === 'device_time' &&
      (typeof why === 'string' ? why : why?.template) === STILL_AT_WORK
  );
}

/** Whether a receipt is closed to its name: its cell computed nothing, and nothing is to be said of it. */
export function folded({ facts, outcome, notes, logs }: IRecord): boolean {
  const computesNothing = facts.some(({ name }) => name === 'holds_only');
  return computesNothing && outcome === 'ok' && notes.length === 0 && logs.length === 0;
}

/** The record in one line, without how it ended. */
export function line(record: IRecord, t: Translate): string {
  return dotted(...headline(record, t));
}

/** Peak memory of the process in words; empty where it is missing. */
export function peakMemory(record: IRecord, t: Translate): string {
  const peak = known(record, 'peak_memory_process')?.value ?? null;
  return peak === null ? '' : t('peak', { memory: formatBytes(peak) });
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

/** That energy in words; empty where there is none to tell of. */
export function energyInWords(record: IRecord, t: Translate): string {
  const reading = energyOf(record);
  if (reading === undefined) {
    return '';
  }
  const energy = figure(reading, t);
  return reading.scope === 'device'
    ? t('gpuEnergy', { energy })
    : t('energyOf', { energy, scope: scopeName(reading.scope, t) });
}

function whereItRan(record: IRecord, t: Translate): string {
  const { ranOn } = record;
  if (ranOn === null) {
    return whereItCanHaveRun(record, t);
  }
  if (ranOn.length === 0) {
    return t('ranNowhere');
  }
  // Memory that was given out, arrays that are there, the driver's count: more may have run elsewhere.
  const used = ranOn.filter(
    ({ evidence }) => evidence === 'allocator' || evidence === 'results' || evidence === 'driver'
  );
  const devices = ranOn
    .filter(entry => !used.includes(entry))
    .map(({ device, share }) =>
      ranOn.length === 1 || share === null ? device : `${device} ${formatShare(share)}`
    );
  return [
    devices.length > 0 ? t('ranOn', { devices: devices.join(', ') }) : '',
    used.length > 0 ? t('used', { devices: used.map(({ device }) => device).join(', ') }) : ''
  ]
    .filter(Boolean)
    .join(', ');
}

/** What can be said where no framework tells: GPUs whose records have the cell's work, or the only device. */
function whereItCanHaveRun(record: IRecord, t: Translate): string {
  const used = record.gpuWork.filter(({ launches }) => launches > 0);
  if (used.length > 0) {
    return t('used', { devices: used.map(({ device }) => device).join(', ') });
  }
  if (record.only.length > 0) {
    return record.only
      .map(([name, device]) => t('onlyDevice', { framework: frameworkName(name), device }))
      .join(', ');
  }
  const framework = record.versions.some(([name]) => FRAMEWORKS.has(name));
  return record.whyDeviceMissing !== null && framework ? t('deviceUnknown') : '';
}
