/**
 * What the page and the kernel say, in Chinese, and what log messages mean: asked of the Jupyter server when it
 * is wanted, for shipped with the browser's own files it would be half of them. A saved notebook needs no kernel
 * for it. The server's side is jupyter_mlgpu/servermessages.py.
 */

import { ServerConnection } from '@jupyterlab/services';

import { readMessages } from './explain';
import { isChinese, isMessage } from './i18n';
import type { ITexts } from './i18n';
import { Sentences } from './sentences';
import { object, strings } from './untrusted';

const TEXTS = 'jupyter-mlgpu/texts/zh';
const MESSAGES = 'jupyter-mlgpu/messages/zh';

/** Milliseconds after which a server that does not answer is waited for no more. */
const PATIENCE = 10_000;

/** The texts for a language code; null where those are the English ones. */
export const loadTexts = once(TEXTS, readTexts);

/** The catalogue of log messages for a language code; null where the records' own English is to be shown. */
export const loadMessages = once(MESSAGES, readMessages);

/** The sidebar and every receipt ask, and one copy serves them all. */
function once<T>(path: string, read: (data: unknown) => T) {
  let loading: Promise<T> | null = null;
  return async (languageCode: string): Promise<T | null> => {
    if (!isChinese(languageCode)) {
      return null;
    }
    try {
      return await (loading ??= ask(path).then(read));
    } catch (error) {
      loading = null;
      console.warn(`jupyter_mlgpu shows English, for ${path} cannot be read:`, error);
      return null;
    }
  };
}

async function ask(path: string): Promise<unknown> {
  const settings = ServerConnection.makeSettings();
  const limit = { signal: AbortSignal.timeout(PATIENCE) };
  const answer = await ServerConnection.makeRequest(settings.baseUrl + path, limit, settings);
  if (!answer.ok) {
    throw new Error(`the server answered ${answer.status}`);
  }
  return answer.json();
}

function readTexts(data: unknown): ITexts {
  const table = object(data);
  const texts = strings(table?.texts).filter(([name]) => isMessage(name));
  return {
    texts: Object.fromEntries(texts),
    sentences: new Sentences(Object.fromEntries(strings(table?.sentences)))
  };
}
