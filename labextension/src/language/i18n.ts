/**
 * Translates the page's and the kernel's English templates with a catalogue.
 *
 * The page's templates are in texts.json; the kernel's come with its messages (sentence.ts). Log messages are
 * translated by id (explain.ts).
 */

import type { Messages } from './explain';
import { filled, type Fields, type ITemplate, type Sentence } from './sentence';
import texts from './texts.json';
import { list, object } from './untrusted';

export type Message = keyof typeof texts;

/** Translates into the user's language. */
export interface Translate {
  /** Return a text of the page, with `{names}` replaced by values; `count` selects singular or plural. */
  (message: Message, values?: Readonly<Record<string, string | number>>): string;
  /** Return a sentence of the kernel; in English if this language lacks it. */
  readonly say: (sentence: Sentence) => string;
  /** Explanations of log messages; null for those in the records. */
  readonly messages: Messages | null;
}

/** The translations into a language other than English. */
export interface ICatalogue {
  /** A code such as `zh_CN`. */
  language: string;
  /** For each English text (the singular, if it has a plural) its translation in each plural form. */
  messages: ReadonlyMap<string, readonly string[]>;
}

/** Separates the name of a page's message from its text, if one text has several translations. */
const OF_MESSAGE = '\u0004';
/** The plural forms in the order of catalogues. */
const FORMS = ['zero', 'one', 'two', 'few', 'many', 'other'];
const MOST_TEXTS = 10_000;
const MOST_LETTERS = 8_000;

/** Read a catalogue from the server or a widget: `{"messages": {text: [form, ...]}}`. */
export function readCatalogue(language: string, data: unknown): ICatalogue {
  const entries = Object.entries(object(object(data)?.messages) ?? {}).slice(0, MOST_TEXTS);
  const form = (value: unknown): string | null =>
    typeof value === 'string' && value.length <= MOST_LETTERS ? value : null;
  const messages = entries.map(([text, forms]) => [text, list(forms, FORMS.length, form)] as const);
  return { language, messages: new Map(messages) };
}

/** Return the translation with a catalogue; null for English. Missing texts are English. */
export function translator(
  catalogue: ICatalogue | null,
  messages: Messages | null = null
): Translate {
  const inEnglish = pluralForm('en');
  const inLanguage = pluralForm(catalogue?.language ?? 'en');
  const known = (text: string, count: unknown): string | undefined =>
    inLanguage(catalogue?.messages.get(text) ?? [], count);
  const say = (sentence: Sentence): string =>
    typeof sentence === 'string' ? (known(sentence, null) ?? sentence) : sayTemplate(sentence);
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

/** Return the name of a language's catalogue, such as `zh_CN`; null for English or an invalid code. */
export function catalogueOf(languageCode: string): string | null {
  try {
    const { language, baseName } = new Intl.Locale(languageCode.replaceAll('_', '-'));
    return language === 'en' || language.length > 3 ? null : baseName.replaceAll('-', '_');
  } catch {
    return null;
  }
}

/** Return true if a name from outside, such as a quantity's, is a message of the page. */
export function isMessage(name: string): name is Message {
  return Object.hasOwn(texts, name);
}

/** Return a function that selects the form for a count; the last form if there are fewer. */
function pluralForm(
  language: string
): (forms: readonly string[], count: unknown) => string | undefined {
  const rules = new Intl.PluralRules(language.replaceAll('_', '-'));
  const { pluralCategories } = rules.resolvedOptions();
  const order = FORMS.filter(name => pluralCategories.includes(name as Intl.LDMLPluralRule));
  return (forms, count) => {
    // A count that is no number takes the plural.
    const form = rules.select(typeof count === 'number' ? count : NaN);
    return forms[order.indexOf(form)] ?? forms.at(-1);
  };
}
