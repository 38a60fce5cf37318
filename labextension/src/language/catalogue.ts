/**
 * Catalogues of the page's and the kernel's texts and of log messages, requested from the Jupyter server on
 * demand. Bundled, they would be half of the page's code. A saved notebook needs no kernel for them. The
 * server's side is jupyter_mlgpu/jupyter/server/messages.py.
 */

import { readMessages } from './explain';
import { catalogueOf, readCatalogue } from './i18n';
import { fetchFromServer } from './server';

/** Load the texts of a language code; null if they are the English ones. */
export const loadTexts = once('texts', readCatalogue);

/** Load the log messages of a language code; null if the records' own English is shown. */
export const loadMessages = once('messages', (_, data) => readMessages(data));

/** Return a loader that requests each language once for the whole page, also one that does not exist. */
function once<T>(what: string, read: (language: string, data: unknown) => T) {
  const loading = new Map<string, Promise<T | null>>();
  return async (languageCode: string): Promise<T | null> => {
    const language = catalogueOf(languageCode);
    if (language === null) {
      return null;
    }
    const answer =
      loading.get(language) ??
      ask(`${what}/${language}`).then(data => data && read(language, data.found));
    loading.set(language, answer);
    try {
      return await answer;
    } catch (error) {
      loading.delete(language);
      console.warn(`jupyter_mlgpu shows English, for its ${what} cannot be read:`, error);
      return null;
    }
  };
}

/** Return what the server has at a path; null if it has nothing. */
async function ask(path: string): Promise<{ found: unknown } | null> {
  const answer = await fetchFromServer(path);
  if (answer.status === 404) {
    return null;
  }
  if (!answer.ok) {
    throw new Error(`the server answered ${answer.status}`);
  }
  return { found: await answer.json() };
}
