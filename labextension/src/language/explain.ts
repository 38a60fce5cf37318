/** Explanations of log messages in the user's language, by message id, with the fields of the line. */

import type { ILogLine } from '../record/logs';
import { LONG, object, printedIn, shape, type Read } from './untrusted';

export interface IExplanation {
  meaning: string | null;
  advice: string | null;
}

const readTexts = shape({ meaning: printedIn(LONG), advice: printedIn(LONG) }, {});

/** Explanations by message id, with `{fields}` as placeholders. */
export type Messages = Readonly<Record<string, Read<typeof readTexts>>>;

/** Read the server's answer; messages without both texts are left out. */
export function readMessages(data: unknown): Messages {
  return Object.fromEntries(
    Object.entries(object(data) ?? {}).flatMap(([id, one]) => {
      const texts = readTexts(one);
      return texts === null ? [] : [[id, texts]];
    })
  );
}

/** Return a line's meaning and advice; in English if the catalogue does not have it. */
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

/** Return the text with its `{fields}` filled in; null if one of them is not known. */
function filled(text: string, fields: ReadonlyMap<string, string>): string | null {
  const names = [...text.matchAll(PLACE)].flatMap(match => match[1] ?? []);
  if (!names.every(name => fields.has(name))) {
    return null;
  }
  return text.replace(PLACE, (whole, name: string | undefined) =>
    name === undefined ? whole.slice(1) : (fields.get(name) ?? '')
  );
}

/** `{name}`, or doubled braces, which mean one brace. */
const PLACE = /\{\{|\}\}|\{(\w+)\}/g;
