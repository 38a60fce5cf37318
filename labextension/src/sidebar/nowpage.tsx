/** The Now view as a page beside the notebook, with larger curves. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import type { Language } from '../language/language';
import type { NotebookSession } from '../kernel/notebooks';
import { useSignal } from '../receipts/useSignal';
import { NowView } from './NowView';
import { icon } from './panel';
import { useModel } from './useModel';

/** One page for each notebook, closed with it. */
export class NowPages {
  constructor(
    private readonly shell: JupyterFrontEnd.IShell,
    private readonly language: Language
  ) {}

  /** True in JupyterLab; Notebook 7 shows one document a page. */
  get possible(): boolean {
    return 'mode' in this.shell;
  }

  /** Show the page of a notebook, which may be open already. */
  open(session: NotebookSession): void {
    let page = this.pages.get(session);
    if (page === undefined || page.isDisposed) {
      page = new NowPage(session, this.language);
      this.pages.set(session, page);
      this.shell.add(page, 'main', { mode: 'split-right', type: 'Hardware' });
    }
    this.shell.activateById(page.id);
  }

  private readonly pages = new WeakMap<NotebookSession, NowPage>();
}

class NowPage extends ReactWidget {
  constructor(
    private readonly session: NotebookSession,
    private readonly language: Language
  ) {
    super();
    this.id = `jupyter-mlgpu-now-${session.id}`;
    this.addClass('jp-mlgpu-Panel');
    this.addClass('jp-mlgpu-NowPage');
    this.title.icon = icon;
    this.title.closable = true;
    session.renamed.connect(this.retitle, this);
    session.closed.connect(this.dispose, this);
    language.changed.connect(this.retitle, this);
    this.retitle();
  }

  protected override render(): ReactElement {
    return <Page session={this.session} t={this.language.t} />;
  }

  private retitle(): void {
    const { t } = this.language;
    const title = t('nowOf', { notebook: this.session.name });
    this.title.label = title;
    this.node.setAttribute('aria-label', title);
    this.update();
  }
}

function Page(props: { session: NotebookSession; t: Translate }): ReactElement {
  const { session, t } = props;
  const state = useModel(session.model);
  const name = useSignal(session.renamed, () => session.name);
  return (
    <>
      <h2 className="jp-mlgpu-Hidden">{t('nowOf', { notebook: name })}</h2>
      <NowView session={session} state={state} onPage={null} t={t} />
    </>
  );
}
