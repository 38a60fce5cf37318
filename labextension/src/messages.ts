/**
 * What log messages mean, in Chinese, loaded when it is wanted: a file beside the extension's own, so that
 * a saved notebook needs no kernel for it. Records bring the English.
 *
 * scripts/messages_for_browser.py writes the messages, packmessages.mjs packs them.
 */

import type { Messages } from './explain';
import { isChinese } from './i18n';

export type { Messages } from './explain';

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
  const answer = await fetch(new URL('./messages.zh.deflate', import.meta.url));
  if (!answer.ok || answer.body === null) {
    throw new Error(`the server answered ${answer.status}`);
  }
  const unpacked = answer.body.pipeThrough(new DecompressionStream('deflate-raw'));
  const [ids, meanings, advice] = (await new Response(unpacked).json()) as Columns;
  return Object.fromEntries(
    ids.map((id, index) => [id, { meaning: meanings[index] ?? '', advice: advice[index] ?? '' }])
  );
}

/** What the file holds: a column each, the same message in the same place. */
type Columns = [ids: string[], meanings: string[], advice: string[]];
