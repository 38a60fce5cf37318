/**
 * What the page and the kernel say, in the user's language: English templates, which a catalogue translates.
 *
 * The page's own are texts.json; the kernel's come with what it tells (sentence.ts). What log lines mean is
 * translated by the message's id (explain.ts).
 */

import type { Messages } from './explain';
import { filled, type Fields, type ITemplate, type Sentence } from './sentence';
import texts from './texts.json';
import { list, object } from './untrusted';

export type Message = keyof typeof texts;

/** Gives texts in the user's language. */
export interface Translate {
  /** A message of ours, with `{names}` replaced by values; `count` chooses singular or plural. */
  (message: Message, values?: Readonly<Record<string, string | number>>): string;
  /** A sentence that the kernel wrote; in English where it is not known in this language. */
  readonly say: (said: Sentence) => string;
  /** What log messages mean in this language; null: as the records say it. */
  readonly messages: Messages | null;
}

/** What a language that is not English needs. */
export interface ICatalogue {
  /** A code such as `zh_CN`. */
  language: string;
  /** Of each English text (of two, the singular) the translation in each of the language's plural forms. */
  messages: ReadonlyMap<string, readonly string[]>;
}

/** Between the name of a message of ours and its text, where one text has several translations. */
const OF_MESSAGE = '\u0004';
/** The forms that a plural can have, in the order in which catalogues have them. */
const FORMS = ['zero', 'one', 'two', 'few', 'many', 'other'];
const MOST_TEXTS = 10_000;
const MOST_LETTERS = 8_000;

/** Read what our server and our widgets bring: `{"messages": {text: [form, ...]}}`. */
export function readCatalogue(language: string, data: unknown): ICatalogue {
  const entries = Object.entries(object(object(data)?.messages) ?? {}).slice(0, MOST_TEXTS);
  const form = (value: unknown): string | null =>
    typeof value === 'string' && value.length <= MOST_LETTERS ? value : null;
  const messages = entries.map(([text, forms]) => [text, list(forms, FORMS.length, form)] as const);
  return { language, messages: new Map(messages) };
}

/** Gives texts in a language; null: in English. What the language lacks is English. */
export function translator(
  catalogue: ICatalogue | null,
  messages: Messages | null = null
): Translate {
  const inEnglish = pluralForm('en');
  const inLanguage = pluralForm(catalogue?.language ?? 'en');
  const known = (text: string, count: unknown): string | undefined =>
    inLanguage(catalogue?.messages.get(text) ?? [], count);
  const say = (said: Sentence): string =>
    typeof said === 'string' ? (known(said, null) ?? said) : sayTemplate(said);
  const sayTemplate = ({ template, plural, fields }: ITemplate): string => {
    const english = inEnglish(plural === null ? [template] : [template, plural], fields.count);
    return filled(known(template, fields.count) ?? english ?? template, fields, sayTemplate);
  };
  const t = (message: Message, fields: Fields = {}): string => {
    const text: string | { one: string; other: string } = texts[message];
    const [template, plural] = typeof text === 'string' ? [text, null] : [text.one, text.other];
    const special = known(`${message}${OF_MESSAGE}${template}`, fields.count);
    return special === undefined
      ? sayTemplate({ template, plural, fields })
      : filled(special, fields, sayTemplate);
  };
  return Object.assign(t, { say, messages });
}

/** The name of a language's catalogue, such as `zh_CN`; null: English, or no language's code. */
export function catalogueOf(languageCode: string): string | null {
  try {
    const { language, baseName } = new Intl.Locale(languageCode.replaceAll('_', '-'));
    return language === 'en' || language.length > 3 ? null : baseName.replaceAll('-', '_');
  } catch {
    return null;
  }
}

/** Whether a name that came from outside is one of our messages, as quantities are. */
export function isMessage(name: string): name is Message {
  return Object.hasOwn(texts, name);
}

/** Chooses the form for a count in a language; the last one where there are fewer. */
function pluralForm(
  language: string
): (forms: readonly string[], count: unknown) => string | undefined {
  const rules = new Intl.PluralRules(language.replaceAll('_', '-'));
  const { pluralCategories } = rules.resolvedOptions();
  const order = FORMS.filter(name => pluralCategories.includes(name as Intl.LDMLPluralRule));
  return (forms, count) => {
    // What is no whole number, or no number at all, is said as several.
    const form = rules.select(typeof count === 'number' ? count : NaN);
    return forms[order.indexOf(form)] ?? forms.at(-1);
  };
}
