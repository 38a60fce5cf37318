/**
 * What the page and the kernel say in the user's language, and what log messages mean: asked of the Jupyter server
 * when it is wanted, for shipped with the browser's own files it would be half of them. A saved notebook needs no
 * kernel for it. The server's side is jupyter_mlgpu/jupyter/server/messages.py.
 */

import { readMessages } from './explain';
import { catalogueOf, readCatalogue } from './i18n';
import { fetchFromServer } from './server';

/** The texts for a language code; null where those are the English ones. */
export const loadTexts = once('texts', readCatalogue);

/** The catalogue of log messages for a language code; null where the records' own English is to be shown. */
export const loadMessages = once('messages', (_, data) => readMessages(data));

/** The sidebar and every receipt ask, and one copy serves them all: also of a language that is not there. */
function once<T>(what: string, read: (language: string, data: unknown) => T) {
  const loading = new Map<string, Promise<T | null>>();
  return async (languageCode: string): Promise<T | null> => {
    const language = catalogueOf(languageCode);
    if (language === null) {
      return null;
    }
    const asked =
      loading.get(language) ??
      ask(`${what}/${language}`).then(data => data && read(language, data.found));
    loading.set(language, asked);
    try {
      return await asked;
    } catch (error) {
      loading.delete(language);
      console.warn(`jupyter_mlgpu shows English, for its ${what} cannot be read:`, error);
      return null;
    }
  };
}

/** What the server has there; null: nothing. */
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
