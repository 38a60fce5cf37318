/** Names for people, of what records and live counters name; and which of a record's readings a list tells of. */

import { isMessage, type Translate } from '../language/i18n';
import { FRAMEWORKS, LIBRARIES } from './names';
import type { IReading, IRecord } from './record';

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
