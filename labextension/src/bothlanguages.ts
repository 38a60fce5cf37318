/** Both languages in one bundle, for pages without our server: the controls for other notebooks. */

import { isChinese, translator } from './i18n';
import type { Translate } from './i18n';
import { Sentences } from './sentences';
import { chinese } from './texts.zh';
import { strings } from './untrusted';

/**
 * The texts for a language code such as `en`, `zh_CN` or `zh-Hans`; `sentences`: the templates for what the kernel
 * says, as it tells them.
 */
export function translateTo(languageCode: string, sentences?: unknown): Translate {
  return translator(
    isChinese(languageCode)
      ? { texts: chinese, sentences: new Sentences(Object.fromEntries(strings(sentences))) }
      : null
  );
}
