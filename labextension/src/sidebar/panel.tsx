/**
 * The sidebar as a widget in JupyterLab's shell. It follows the notebook in focus, and draws nothing while
 * hidden.
 */

import { LabIcon, ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import type { ReactElement } from 'react';

import type { Language } from '../language/language';
import type { NotebookSession, Notebooks } from '../kernel/notebooks';
import type { Pages } from './pages';
import { Sidebar } from './Sidebar';

/** Icon of the sidebar and of its commands. */
export const icon = new LabIcon({
  name: 'jupyter-mlgpu:receipt',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 24 24">
  <g class="jp-icon3" fill="#616161">
    <path d="M6 6h12v12H6zm2 2v8h8V8z" fill-rule="evenodd"/>
    <path d="M10 10h4v4h-4z"/>
    <path d="M8 2h2v3H8zm6 0h2v3h-2zM8 19h2v3H8zm6 0h2v3h-2zM2 8h3v2H2zm0 6h3v2H2zm17-6h3v2h-3zm0 6h3v2h-3z"/>
  </g>
</svg>`
});

export class Panel extends ReactWidget {
  constructor(
    private readonly notebooks: Notebooks,
    private readonly pages: Pages,
    private readonly language: Language
  ) {
    super();
    this.id = 'jupyter-mlgpu-sidebar';
    this.addClass('jp-mlgpu-Panel');
    this.title.icon = icon;
    this.node.setAttribute('role', 'region');
    this.node.tabIndex = -1;
    this.node.addEventListener('keydown', event => this.leave(event));
    notebooks.currentChanged.connect(this.follow, this);
    language.changed.connect(this.retitle, this);
    this.retitle();
    this.follow();
  }

  protected override render(): ReactElement | null {
    const { t } = this.language;
    const pages = this.pages.possible ? this.pages : null;
    return this.isVisible ? <Sidebar session={this.session} pages={pages} t={t} /> : null;
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.update();
  }

  protected override onAfterHide(message: Message): void {
    super.onAfterHide(message);
    this.update();
  }

  private follow(): void {
    this.session = this.notebooks.current;
    this.update();
  }

  /** Escape leads back to the notebook, unless it empties a search field first. */
  private leave({ key, target, defaultPrevented }: KeyboardEvent): void {
    const typed = target instanceof HTMLInputElement && target.type === 'search' && target.value;
    if (key === 'Escape' && !defaultPrevented && !typed) {
      this.session?.focus();
    }
  }

  private retitle(): void {
    const title = this.language.t('title');
    this.title.caption = title;
    this.node.setAttribute('aria-label', title);
    this.update();
  }

  private session: NotebookSession | null = null;
}
