/** What can be chosen in the device picker: pure functions over what the kernel tells. */

import type { Translate } from '../language/i18n';
import type { Sentence } from '../language/sentence';
import { frameworkName } from '../record/words';
import { AUTO } from '../record/requested';
import type { IChoice, IDeviceStatus, ISidebarState } from './protocol';

/** One control: a framework's devices, or those of all frameworks. */
export interface IPick {
  /** null: holds for every framework. */
  framework: string | null;
  /** The framework's name for people; null: there is only one, or none yet. */
  name: string | null;
  /** The word chosen, the newest wish first. */
  chosen: string;
  words: readonly IChoice[];
  /** Why there is no GPU among them. */
  missing: readonly Sentence[];
}

/** Before the kernel has told anything: no choice can be made, and none was. */
const UNTOLD = { framework: null, chosen: AUTO, words: [{ word: AUTO, about: null }], missing: [] };

/** The controls, as the kernel offers them: `jupyter/notebook/browser/device_list.py`; a wish stands for what it waits for. */
export function picks(status: IDeviceStatus | null, choices: ISidebarState | null): IPick[] {
  const told = status?.pickers ?? [];
  const wish = choices?.device ?? null;
  return (told.length > 0 ? told : [UNTOLD]).map(({ framework, chosen, words, missing }) => {
    const mine = framework === null || [null, framework].includes(wish?.framework ?? null);
    const word = wish !== null && mine ? wish.word : chosen;
    const listed = words.some(one => one.word === word);
    return {
      framework,
      name: framework === null ? null : frameworkName(framework),
      chosen: word,
      words: listed ? words : [...words, { word, about: null }],
      missing
    };
  });
}

/** A word for people: a device's name, or Automatic. */
export function wordName(word: string, t: Translate): string {
  return word === AUTO ? t('automatic') : word;
}

/** A choice in a list: `gpu:0 · NVIDIA H100`. */
export function choiceName({ word, about }: IChoice, t: Translate): string {
  const name = wordName(word, t);
  return !about ? name : `${name} · ${t.say(about)}`;
}
