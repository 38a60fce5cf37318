/** Both languages in one bundle, for pages without our server: the controls for other notebooks. */

import { isChinese, translator } from './i18n';
import type { Translate } from './i18n';
import { Sentences } from './sentences';
import { chinese } from './texts.zh';

/** The texts for a language code such as `en`, `zh_CN` or `zh-Hans`; what the kernel says stays English. */
export function translateTo(languageCode: string): Translate {
  return translator(
    isChinese(languageCode) ? { texts: chinese, sentences: new Sentences({}) } : null
  );
}
