/**
 * Where the lessons are: the server has them, and copies them to the user's folder where they are not there yet.
 * The Python side is jupyter_mlgpu/teach/commands/card.py.
 */

import type { ServerConnection } from '@jupyterlab/services';

import type { Language } from '../language/language';
import { RefusedError, sentence, type Sentence } from '../language/sentence';
import { fetchFromServer } from '../language/server';
import { object, text } from '../language/untrusted';

/** Milliseconds after which a server that does not answer is waited for no more: it may have to copy. */
const PATIENCE = 60_000;
/** Characters of a path, at most. */
const LONGEST = 4_000;

export interface ILessons {
  /** The path of the lesson to begin with. */
  first: string;
  /** That they were copied, and where to; null: they were there. */
  said: Sentence | null;
}

/** Ask the server for the lessons in a language; rejects with the reason where there are none. */
export async function askLessons(
  language: Pick<Language, 'name' | 't'>,
  settings: ServerConnection.ISettings
): Promise<ILessons> {
  const path = `lessons/${encodeURIComponent(language.name)}`;
  const answer = await fetchFromServer(path, { method: 'POST' }, PATIENCE, settings);
  const told = object(await answer.json().catch(() => null));
  const first = text(told?.first, LONGEST);
  if (answer.ok && first) {
    return { first, said: sentence(told?.said) };
  }
  const why = sentence(told?.why);
  throw why === null ? new Error(language.t('lessonsUnknown')) : new RefusedError(why);
}
