/**
 * The language that is spoken now: JupyterLab's, or the one that the user chose in the settings.
 */

import { Signal } from '@lumino/signaling';
import type { ISignal } from '@lumino/signaling';

import { translateTo } from './i18n';
import type { Translate } from './i18n';
import { loadMessages } from './messages';
import type { Messages } from './messages';
import { preferences } from './preferences';

export class Language {
  /** `jupyterlabs`: the code of JupyterLab's language. */
  constructor(private readonly jupyterlabs: string) {
    this.code = this.chosen();
    this.translate = translateTo(this.code);
    void this.load();
    preferences.changed.connect(this.follow, this);
  }

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
      this.translate = translateTo(this.code);
      this.loaded = null;
      this.changedSignal.emit();
      void this.load();
    }
  }

  private async load(): Promise<void> {
    const { code } = this;
    const messages = await loadMessages(code);
    if (code === this.code && messages !== null) {
      this.loaded = messages;
      this.changedSignal.emit();
    }
  }

  private code: string;
  private translate: Translate;
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
