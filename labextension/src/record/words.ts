/** Display names of quantities, frameworks and scopes, and the readings that lists show. */

import { isMessage, type Translate } from '../language/i18n';
import { FRAMEWORKS, LIBRARIES } from './names';
import type { IReading, IRecord } from './record';

/** Return the reading of a quantity if it has a value. */
export function known(record: IRecord, quantity: string): IReading | undefined {
  return record.readings.find(reading => reading.quantity === quantity && reading.value !== null);
}

/** Return the display name of a framework's module or of a library. */
export function frameworkName(name: string): string {
  return FRAMEWORKS.get(name) ?? LIBRARIES.get(name) ?? name;
}

/** Return installed versions: `Keras 3.11, TensorFlow 2.19.1`. */
export function versionsInWords(versions: readonly (readonly [string, string])[]): string {
  return versions.map(([name, version]) => `${frameworkName(name)} ${version}`).join(', ');
}

/** Return a quantity's display name. */
export function quantityName(quantity: string, t: Translate): string {
  return named(quantity, quantity.replaceAll('_', ' '), t);
}

/** Return the display name of what a reading covers. */
export function scopeName(scope: string, t: Translate): string {
  return named(`${scope}Scope`, scope, t);
}

function named(message: string, otherwise: string, t: Translate): string {
  return isMessage(message) ? t(message) : otherwise;
}

/** Return the energy that a list shows: the GPU's, as a receipt does, or the only figure there is. */
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
