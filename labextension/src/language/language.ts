/** The page's language: JupyterLab's, or the one in the settings. */

import { Signal } from '@lumino/signaling';

import { loadMessages, loadTexts } from './catalogue';
import type { Messages } from './explain';
import { translator, type ICatalogue, type Translate } from './i18n';
import { preferences } from '../sidebar/preferences';

const ENGLISH = translator(null);

export class Language {
  /** `jupyterlabs` is the code of JupyterLab's language. */
  constructor(private readonly jupyterlabs: string) {
    this.code = this.chosen();
    this.ready = this.load();
    preferences.changed.connect(this.follow, this);
  }

  /** Resolves when the first language is loaded or known to fail. Earlier drawings are repeated. */
  readonly ready: Promise<void>;

  /** Translates into this language; another function after the language has changed. */
  get t(): Translate {
    return this.translate;
  }

  /** Code of the language, such as `zh-CN`. */
  get name(): string {
    return this.code;
  }

  readonly changed = new Signal<this, void>(this);

  private chosen(): string {
    const { language } = preferences.current;
    return language === 'jupyterlab' ? this.jupyterlabs : language;
  }

  private follow(): void {
    if (this.chosen() !== this.code) {
      this.code = this.chosen();
      void this.load();
    }
  }

  private async load(): Promise<void> {
    const { code } = this;
    const texts = await loadTexts(code);
    if (code === this.code) {
      this.setTranslation(texts, null);
      void this.loadMessages(code, texts);
    }
  }

  private async loadMessages(code: string, texts: ICatalogue | null): Promise<void> {
    const messages = await loadMessages(code);
    if (code === this.code && messages !== null) {
      this.setTranslation(texts, messages);
    }
  }

  private setTranslation(texts: ICatalogue | null, messages: Messages | null): void {
    const translate = texts || messages ? translator(texts, messages) : ENGLISH;
    if (translate !== this.translate) {
      this.translate = translate;
      this.changed.emit();
    }
  }

  private code: string;
  private translate = ENGLISH;
}

const languages = new Map<string, Language>();

/** Return the one Language of the page; `jupyterlabs` is the code of JupyterLab's language. */
export function languageOf(jupyterlabs: string): Language {
  const language = languages.get(jupyterlabs) ?? new Language(jupyterlabs);
  languages.set(jupyterlabs, language);
  return language;
}
