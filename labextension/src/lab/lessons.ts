/**
 * Asks the server for the lessons, which it copies to the user's folder if necessary. The Python side is
 * jupyter_mlgpu/teach/commands/card.py.
 */

import type { ServerConnection } from '@jupyterlab/services';

import type { Language } from '../language/language';
import { RefusedError, sentence, type Sentence } from '../language/sentence';
import { fetchFromServer } from '../language/server';
import { object, text } from '../language/untrusted';

/** Milliseconds to wait for the server, which may have to copy files. */
const TIMEOUT = 60_000;
/** Largest number of characters of a path. */
const LONGEST = 4_000;

export interface ILessons {
  /** Path of the first lesson. */
  first: string;
  /** Note that lessons were copied, and where to; null if they were there. */
  said: Sentence | null;
}

/** Ask the server for the lessons in a language; rejects with the reason if there are none. */
export async function askLessons(
  language: Pick<Language, 'name' | 't'>,
  settings: ServerConnection.ISettings
): Promise<ILessons> {
  const path = `lessons/${encodeURIComponent(language.name)}`;
  const answer = await fetchFromServer(path, { method: 'POST' }, TIMEOUT, settings);
  const body = object(await answer.json().catch(() => null));
  const first = text(body?.first, LONGEST);
  if (answer.ok && first) {
    return { first, said: sentence(body?.said) };
  }
  const why = sentence(body?.why);
  throw why === null ? new Error(language.t('lessonsUnknown')) : new RefusedError(why);
}
