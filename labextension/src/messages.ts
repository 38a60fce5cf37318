/**
 * What log messages mean, in Chinese, asked of the Jupyter server when it is wanted: a saved notebook needs no
 * kernel for it. Records bring the English. The server's side is jupyter_mlgpu/servermessages.py.
 */

import { ServerConnection } from '@jupyterlab/services';

import { readMessages } from './explain';
import type { Messages } from './explain';
import { isChinese } from './i18n';

export type { Messages } from './explain';

const PATH = 'jupyter-mlgpu/messages/zh';

/** The catalogue for a language code; null where the records' own English is to be shown. */
export async function loadMessages(languageCode: string): Promise<Messages | null> {
  if (!isChinese(languageCode)) {
    return null;
  }
  try {
    // The sidebar and every receipt ask for it, and one copy serves them all.
    return await (loading ??= load());
  } catch (error) {
    loading = null;
    console.warn('jupyter_mlgpu shows log messages in English:', error);
    return null;
  }
}

let loading: Promise<Messages> | null = null;

async function load(): Promise<Messages> {
  const settings = ServerConnection.makeSettings();
  const answer = await ServerConnection.makeRequest(settings.baseUrl + PATH, {}, settings);
  if (!answer.ok) {
    throw new Error(`the server answered ${answer.status}`);
  }
  return readMessages(await answer.json());
}
