/**
 * The language that is spoken now: JupyterLab's, or the one that the user chose in the settings.
 */

import { Signal } from '@lumino/signaling';
import type { ISignal } from '@lumino/signaling';

import { loadMessages, loadTexts } from './chinese';
import type { Messages } from './explain';
import { translator } from './i18n';
import type { Translate } from './i18n';
import { preferences } from './preferences';

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

  /** What log messages mean in this language; null: as the records say it. */
  get messages(): Messages | null {
    return this.loaded;
  }

  get changed(): ISignal<this, void> {
    return this.changedSignal;
  }

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
      this.speak(texts === null ? ENGLISH : translator(texts), null);
      void this.loadMessages(code);
    }
  }

  private async loadMessages(code: string): Promise<void> {
    const messages = await loadMessages(code);
    if (code === this.code) {
      this.speak(this.translate, messages);
    }
  }

  private speak(translate: Translate, messages: Messages | null): void {
    if (translate !== this.translate || messages !== this.loaded) {
      this.translate = translate;
      this.loaded = messages;
      this.changedSignal.emit();
    }
  }

  private code: string;
  private translate = ENGLISH;
  private loaded: Messages | null = null;
  private readonly changedSignal = new Signal<this, void>(this);
}

const languages = new Map<string, Language>();

/** The one of this page, which has one language; `jupyterlabs` is the code of JupyterLab's. */
export function languageOf(jupyterlabs: string): Language {
  const language = languages.get(jupyterlabs) ?? new Language(jupyterlabs);
  languages.set(jupyterlabs, language);
  return language;
}
