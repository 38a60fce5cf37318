/** The item in the status bar: tracing in the notebook in focus, its device and its kernel's activity. */

import { ReactWidget } from '@jupyterlab/ui-components';
import { Signal } from '@lumino/signaling';
import type { ReactElement } from 'react';

import type { Language } from '../language/language';
import type { NotebookSession, Notebooks } from '../kernel/notebooks';
import { statusInWords } from '../kernel/summary';

export class StatusItem extends ReactWidget {
  constructor(
    private readonly notebooks: Notebooks,
    private readonly language: Language,
    private readonly onClick: () => void
  ) {
    super();
    this.addClass('jp-mlgpu-StatusItem');
    notebooks.currentChanged.connect(this.follow, this);
    language.changed.connect(this.refresh, this);
    this.follow();
  }

  /** True if there is a notebook. */
  get active(): boolean {
    return this.session !== null;
  }

  readonly activeChanged = new Signal<this, void>(this);

  protected override render(): ReactElement {
    const { t } = this.language;
    return (
      <button type="button" title={t('command_open_about')} onClick={this.onClick}>
        {this.words}
      </button>
    );
  }

  private follow(): void {
    this.session?.model.stateChanged.disconnect(this.refresh, this);
    this.session = this.notebooks.current;
    this.session?.model.stateChanged.connect(this.refresh, this);
    this.refresh();
    this.activeChanged.emit();
  }

  /**
   * Redraw if the words have changed. It is no live region and has no clock, so screen readers stay quiet.
   */
  private refresh(): void {
    const { session } = this;
    const words = session === null ? '' : statusInWords(session.model.state, this.language.t);
    if (words !== this.words) {
      this.words = words;
      this.update();
    }
  }

  private session: NotebookSession | null = null;
  private words = '';
}
