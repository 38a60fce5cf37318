/**
 * Sentences of the kernel with their template and fields, so that a catalogue can translate them. The Python
 * side is jupyter_mlgpu/record/sentence.py.
 */

import { LONG, object, or, printed, type Reader } from './untrusted';

/** A text, or a template with its fields. */
export type Sentence = string | ITemplate;

export interface ITemplate {
  template: string;
  /** The template for counts other than 1. */
  plural: string | null;
  fields: Fields;
}

/** A text is inserted unchanged, a number with commas between thousands, and a template translated. */
export type Fields = Readonly<Record<string, string | number | ITemplate>>;

const FIELD = /\{(\w+)\}/g;
/** Limits of a sentence: number of fields, nesting, and characters of its template and of the filled text. */
const MOST_FIELDS = 24;
const DEEPEST = 6;
const MOST_LETTERS = 8_000;

/** Read a sentence as `to_json` writes it. One beyond the limits is reduced to its text, cut. */
export function sentence(value: unknown, limit = LONG): Sentence | null {
  const table = object(value);
  return table === null ? printed(value, limit) : (read(table, 0) ?? printed(table.text, limit));
}

/** Return a reader of sentences with another limit. */
export function sentenceIn(limit: number): Reader<Sentence> {
  return value => sentence(value, limit);
}

/** Read a sentence; empty if it cannot be read. */
export const said = or('', (value: unknown) => sentence(value));

/** A refusal by the kernel, with the reason as a sentence. */
export class RefusedError extends Error {
  constructor(readonly sentence: Sentence) {
    super(typeof sentence === 'string' ? sentence : inEnglish(sentence));
  }
}

/** Return the reason for an error. */
export function whyOf(error: unknown): Sentence {
  return error instanceof RefusedError
    ? error.sentence
    : error instanceof Error
      ? error.message
      : String(error);
}

/** Fill a template with its fields; `say` translates the template in a field. */
export function filled(template: string, fields: Fields, say: (one: ITemplate) => string): string {
  const words = inWords(fields, say);
  return template.replace(FIELD, (whole, name: string) => words.get(name) ?? whole);
}

function inWords(fields: Fields, say: (one: ITemplate) => string): Map<string, string> {
  return new Map(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'object'
        ? say(value)
        : typeof value === 'number'
          ? value.toLocaleString('en')
          : value
    ])
  );
}

function read(table: Record<string, unknown>, depth: number): ITemplate | null {
  const [template, plural] = [letters(table.template), letters(table.plural)];
  const given = Object.entries(object(table.fields) ?? {});
  const broken = template === null || (plural === null && table.plural != null);
  if (broken || given.length > MOST_FIELDS || depth === DEEPEST) {
    return null;
  }
  const fields: Fields = Object.fromEntries(
    given.flatMap(([name, value]) => {
      const field = readField(value, depth);
      return field === null ? [] : [[name, field]];
    })
  );
  if (Object.keys(fields).length < given.length) {
    return null;
  }
  const words = inWords(fields, inEnglish);
  const forms = `${template}${plural ?? ''}`;
  const inFields = [...forms.matchAll(FIELD)].map(([, name = '']) => words.get(name)?.length ?? 0);
  const most = Math.max(
    forms.length,
    inFields.reduce((sum, one) => sum + one, 0)
  );
  return most > MOST_LETTERS ? null : { template, plural, fields };
}

function readField(value: unknown, depth: number): string | number | ITemplate | null {
  const table = object(value);
  if (table !== null) {
    return read(table, depth + 1);
  }
  return Number.isSafeInteger(value) ? (value as number) : letters(value);
}

function letters(value: unknown): string | null {
  return typeof value === 'string' && value.length <= MOST_LETTERS
    ? printed(value, MOST_LETTERS)
    : null;
}

function inEnglish({ template, plural, fields }: ITemplate): string {
  return filled(plural ?? template, fields, inEnglish);
}
