/** The choices in the device picker. Pure functions. */

import type { Translate } from '../language/i18n';
import type { Sentence } from '../language/sentence';
import { frameworkName } from '../record/words';
import { AUTO } from '../record/requested';
import type { IChoice, IDeviceStatus, ISidebarState } from './messages';

/** One control: the devices of one framework, or of all frameworks. */
export interface IPick {
  /** null if it holds for every framework. */
  framework: string | null;
  /** The framework's display name; null if there is only one, or none yet. */
  name: string | null;
  /** The chosen word. A pending choice wins over the kernel's state. */
  chosen: string;
  words: readonly IChoice[];
  /** Reasons why there is no GPU among the choices. */
  missing: readonly Sentence[];
}

/** The single choice before the kernel has sent its devices. */
const NO_CHOICE = {
  framework: null,
  chosen: AUTO,
  words: [{ word: AUTO, about: null }],
  missing: []
};

/**
 * Return the controls that the kernel offers (jupyter_mlgpu/jupyter/notebook/browser/device_list.py), with a
 * pending choice selected.
 */
export function picks(status: IDeviceStatus | null, choices: ISidebarState | null): IPick[] {
  const pickers = status?.pickers ?? [];
  const pending = choices?.device ?? null;
  return (pickers.length > 0 ? pickers : [NO_CHOICE]).map(
    ({ framework, chosen, words, missing }) => {
      const applies = framework === null || [null, framework].includes(pending?.framework ?? null);
      const word = pending !== null && applies ? pending.word : chosen;
      const listed = words.some(one => one.word === word);
      return {
        framework,
        name: framework === null ? null : frameworkName(framework),
        chosen: word,
        words: listed ? words : [...words, { word, about: null }],
        missing
      };
    }
  );
}

/** Return a device's name, or "Automatic". */
export function wordName(word: string, t: Translate): string {
  return word === AUTO ? t('automatic') : word;
}

/** Return a choice as it is listed: `gpu:0 · NVIDIA H100`. */
export function choiceName({ word, about }: IChoice, t: Translate): string {
  const name = wordName(word, t);
  return !about ? name : `${name} · ${t.say(about)}`;
}
