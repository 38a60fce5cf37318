/**
 * The user interface in the user's language, English or Simplified Chinese.
 *
 * A bundled dictionary, chosen by JupyterLab's language code, works without a language pack. Sentences
 * that come from the kernel (notes, reasons) are shown as they came; what log lines mean is translated
 * by the message's id (messages.ts).
 */

import { english } from './texts.en';
import type { Message } from './texts.en';
import { chinese } from './texts.zh';

export type { Message };

/** Gives a message in the user's language, with `{names}` replaced by values. */
export type Translate = (message: Message, values?: Readonly<Record<string, string>>) => string;

/** The texts for a language code such as `en`, `zh_CN` or `zh-Hans`. */
export function translateTo(languageCode: string): Translate {
  const texts = isChinese(languageCode) ? chinese : english;
  return (message, values = {}) =>
    texts[message].replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

/** Whether a language code is one of Chinese. */
export function isChinese(languageCode: string): boolean {
  return /^zh\b|^zh_/i.test(languageCode);
}

/** Whether a name that came from outside is one of our messages, as quantities are. */
export function isMessage(name: string): name is Message {
  return Object.hasOwn(english, name);
}
