/**
 * What log messages mean, in the user's language: by message id, with what the line itself brings.
 */

import type { ILogLine } from '../record/logs';
import { LONG, object, printedIn, shape, type Read } from './untrusted';

export interface IExplanation {
  meaning: string | null;
  advice: string | null;
}

const readTexts = shape({ meaning: printedIn(LONG), advice: printedIn(LONG) }, {});

/** Explanations by message id, with `{fields}` in their places. */
export type Messages = Readonly<Record<string, Read<typeof readTexts>>>;

/** Read what the server told; messages without both texts are left out. */
export function readMessages(data: unknown): Messages {
  return Object.fromEntries(
    Object.entries(object(data) ?? {}).flatMap(([id, one]) => {
      const texts = readTexts(one);
      return texts === null ? [] : [[id, texts]];
    })
  );
}

/** What a line means and what to do; in English where the catalogue does not know it. */
export function explain(line: ILogLine, messages: Messages | null): IExplanation {
  const { id, meaning, advice } = line;
  const known =
    messages !== null && id !== null && Object.hasOwn(messages, id) ? messages[id] : undefined;
  if (known === undefined || meaning === null) {
    return { meaning, advice };
  }
  const fields = new Map(line.fields);
  return {
    meaning: filled(known.meaning, fields) ?? meaning,
    advice: filled(known.advice, fields) ?? advice
  };
}

/** The text with its `{fields}`; null where one of them is not known. */
function filled(text: string, fields: ReadonlyMap<string, string>): string | null {
  const names = [...text.matchAll(PLACE)].flatMap(match => match[1] ?? []);
  if (!names.every(name => fields.has(name))) {
    return null;
  }
  return text.replace(PLACE, (whole, name: string | undefined) =>
    name === undefined ? whole.slice(1) : (fields.get(name) ?? '')
  );
}

/** `{name}`, and doubled braces, which stand for themselves. */
const PLACE = /\{\{|\}\}|\{(\w+)\}/g;
