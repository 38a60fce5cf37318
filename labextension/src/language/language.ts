/**
 * The language that is spoken now: JupyterLab's, or the one that the user chose in the settings.
 */

import { Signal } from '@lumino/signaling';

import { loadMessages, loadTexts } from './catalogue';
import type { Messages } from './explain';
import { translator, type ICatalogue, type Translate } from './i18n';
import { preferences } from '../sidebar/preferences';

const ENGLISH = translator(null);

export class Language {
  /** `jupyterlabs`: the code of JupyterLab's language. */
  constructor(private readonly jupyterlabs: string) {
    this.code = this.chosen();
    this.ready = this.load();
    preferences.changed.connect(this.follow, this);
  }

  /** When the first language is there, or known not to come: what is drawn before may be drawn again. */
  readonly ready: Promise<void>;

  /** Gives texts in this language; another function when the language is another. */
  get t(): Translate {
    return this.translate;
  }

  /** Its code, such as `zh-CN`. */
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
      this.speak(texts, null);
      void this.loadMessages(code, texts);
    }
  }

  private async loadMessages(code: string, texts: ICatalogue | null): Promise<void> {
    const messages = await loadMessages(code);
    if (code === this.code && messages !== null) {
      this.speak(texts, messages);
    }
  }

  private speak(texts: ICatalogue | null, messages: Messages | null): void {
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

/** The one of this page, which has one language; `jupyterlabs` is the code of JupyterLab's. */
export function languageOf(jupyterlabs: string): Language {
  const language = languages.get(jupyterlabs) ?? new Language(jupyterlabs);
  languages.set(jupyterlabs, language);
  return language;
}
