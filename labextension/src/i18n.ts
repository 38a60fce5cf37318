/**
 * The user interface in the user's language, English or Simplified Chinese.
 *
 * A dictionary, chosen by JupyterLab's language code, works without a language pack. English is bundled; the
 * server brings Chinese (chinese.ts). Sentences that come from the kernel (notes, reasons) are English and are
 * shown in Chinese by their templates (sentences.ts); what log lines mean, by the message's id (explain.ts).
 */

import type { Sentences } from './sentences';
import { english } from './texts.en';
import type { Message } from './texts.en';

export type { Message };

/** Gives texts in the user's language. */
export interface Translate {
  /** A message of ours, with `{names}` replaced by values. */
  (message: Message, values?: Readonly<Record<string, string>>): string;
  /** A sentence that the kernel wrote; as it came where it is not known in this language. */
  readonly say: (text: string) => string;
}

/** What a language that is not English needs. */
export interface ITexts {
  texts: Readonly<Partial<Record<Message, string>>>;
  sentences: Sentences;
}

/** Gives texts in a language; null: in English. A message that the language lacks is English. */
export function translator(known: ITexts | null): Translate {
  const texts = { ...english, ...known?.texts };
  return Object.assign(
    (message: Message, values: Readonly<Record<string, string>> = {}) =>
      texts[message].replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole),
    { say: (text: string) => known?.sentences.say(text) ?? text }
  );
}

/** Whether a language code is one of Chinese. */
export function isChinese(languageCode: string): boolean {
  return /^zh\b|^zh_/i.test(languageCode);
}

/** Whether a name that came from outside is one of our messages, as quantities are. */
export function isMessage(name: string): name is Message {
  return Object.hasOwn(english, name);
}
