/** What can be chosen in the device picker: pure functions over what the kernel tells. */

import type { IPicker, IDeviceStatus } from './protocol';
import { requestedOf } from '../record/requested';
import type { Requested } from '../record/requested';
import { frameworkName } from '../record/words';

/** One control: a framework's devices, or those of all frameworks. */
export interface IPick {
  /** null: holds for every framework. */
  framework: string | null;
  /** The framework's name for people; null: there is only one, or none yet. */
  name: string | null;
  /** The word chosen, the newest wish first; null: the choice is left to the framework. */
  chosen: string | null;
  words: { word: string; kind: string | null }[];
}

/**
 * The controls: one for each framework whose devices are known, where there are several; else one.
 *
 * Before a framework is imported nobody knows of a GPU. Afterwards one can be asked for also where none is
 * known: the kernel looks for it, and says why there is none, or that a restart would bring it.
 */
export function picks(status: IDeviceStatus | null, choices: IPicker | null): IPick[] {
  const available = status?.available ?? [];
  const names = [...new Set(available.map(({ framework }) => framework))];
  if (names.length > 1) {
    return names.map(name => onePick(name, status, choices));
  }
  return [onePick(null, status, choices)];
}

function onePick(
  framework: string | null,
  status: IDeviceStatus | null,
  choices: IPicker | null
): IPick {
  const devices = (status?.available ?? []).filter(
    device => framework === null || device.framework === framework
  );
  const known = devices.map(({ device, kind }) => ({ word: device, kind }));
  const imported = (status?.frameworks ?? []).length > 0;
  const words = [
    { word: 'any', kind: null },
    ...(known.length > 0 ? known : [{ word: 'cpu', kind: null }]),
    ...(imported && !known.some(({ word }) => word.startsWith('gpu'))
      ? [{ word: 'gpu', kind: null }]
      : [])
  ];
  const wish = choices?.device ?? null;
  const wished =
    wish !== null && (framework === null || [null, framework].includes(wish.framework));
  const chosen = wished ? wish.word : wordOf(framework, status);
  return {
    framework,
    name: framework === null ? null : frameworkName(framework),
    chosen,
    // A word that is in none of the lists, `gpu:3` for example, was typed in a cell and is waiting.
    words:
      chosen === null || words.some(({ word }) => word === chosen)
        ? words
        : [...words, { word: chosen, kind: null }]
  };
}

/** The word that holds: `any` as it was written, else the device that it means where that is known. */
function wordOf(framework: string | null, status: IDeviceStatus | null): string | null {
  const mine = (entries: Requested = []): string | null =>
    entries.find(([name]) => framework === null || name === framework)?.[1] ?? null;
  const asked = mine(status?.asked);
  if (asked === null && framework === null) {
    return requestedOf(status?.requested ?? []);
  }
  return asked === 'any' ? asked : (mine(status?.chosen) ?? asked);
}
