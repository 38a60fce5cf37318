/** Pages beside the notebook, where there is more room than in the sidebar: the Now view, and results. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { ReactWidget } from '@jupyterlab/ui-components';
import { Suspense, type ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import type { Language } from '../language/language';
import { plain } from '../language/prose';
import type { NotebookSession } from '../kernel/notebooks';
import type { IFigure } from '../kernel/savedfigures';
import { PageView } from '../page/figurewidget';
import { NowView } from './NowView';
import { icon } from './panel';
import { useModel } from './useModel';

/** One page for the Now view and one for each result of a notebook, closed with it. */
export class Pages {
  constructor(
    private readonly shell: JupyterFrontEnd.IShell,
    private readonly language: Language
  ) {}

  /** True in JupyterLab; Notebook 7 shows one document a page. */
  get possible(): boolean {
    return 'mode' in this.shell;
  }

  /** Show the Now view of a notebook. */
  openNow(session: NotebookSession): void {
    this.show(`now-${session.id}`, id => new NowPage(id, session, this.language));
  }

  /** Show a result in a notebook's outputs. */
  openResult(session: NotebookSession, figure: IFigure): void {
    this.show(
      `result-${session.id}-${figure.key}`,
      id => new ResultPage(id, session, this.language, figure)
    );
  }

  /** Show a page, which may be open already: beside the notebook, and a further one with the first. */
  private show(name: string, make: (id: string) => Page): void {
    const id = `jupyter-mlgpu-${name}`;
    const pages = [...this.shell.widgets('main')].filter(one => one instanceof Page);
    if (!pages.some(page => page.id === id)) {
      const last = pages.at(-1);
      this.shell.add(make(id), 'main', {
        mode: last ? 'tab-after' : 'split-right',
        ref: last?.id ?? null,
        type: 'Hardware'
      });
    }
    this.shell.activateById(id);
  }
}

abstract class Page extends ReactWidget {
  constructor(
    id: string,
    protected readonly session: NotebookSession,
    protected readonly language: Language
  ) {
    super();
    this.id = id;
    this.addClass('jp-mlgpu-Panel');
    this.title.icon = icon;
    this.title.closable = true;
    session.renamed.connect(this.retitle, this);
    session.closed.connect(this.dispose, this);
    language.changed.connect(this.retitle, this);
  }

  protected abstract readonly label: string;

  protected retitle(): void {
    const { label } = this;
    this.title.label = label;
    this.title.caption = label;
    this.node.setAttribute('aria-label', label);
    this.update();
  }
}

class NowPage extends Page {
  constructor(id: string, session: NotebookSession, language: Language) {
    super(id, session, language);
    this.addClass('jp-mlgpu-NowPage');
    this.retitle();
  }

  protected get label(): string {
    return this.language.t('nowOf', { notebook: this.session.name });
  }

  protected override render(): ReactElement {
    return (
      <>
        <h2 className="jp-mlgpu-Hidden">{this.label}</h2>
        <LiveNow session={this.session} t={this.language.t} />
      </>
    );
  }
}

function LiveNow(props: { session: NotebookSession; t: Translate }): ReactElement {
  const { session, t } = props;
  const state = useModel(session.model);
  return <NowView session={session} state={state} onPage={null} t={t} />;
}

class ResultPage extends Page {
  constructor(
    id: string,
    session: NotebookSession,
    language: Language,
    private figure: IFigure
  ) {
    super(id, session, language);
    this.addClass('jp-mlgpu-ResultPage');
    // The page itself is scrolled, by keys too.
    this.node.tabIndex = 0;
    session.model.stateChanged.connect(this.follow, this);
    this.retitle();
  }

  protected get label(): string {
    return plain(this.language.t.say(this.figure.page.title));
  }

  protected override onActivateRequest(): void {
    this.node.focus();
  }

  protected override render(): ReactElement {
    return (
      <>
        <h2 className="jp-mlgpu-Hidden">{this.session.name}</h2>
        <Suspense>
          <PageView page={this.figure.page} t={this.language.t} />
        </Suspense>
      </>
    );
  }

  /** Show the newest result of the output. One that is gone stays in sight. */
  private follow(): void {
    const { figures } = this.session.model.state;
    const figure = figures.find(({ key }) => key === this.figure.key) ?? this.figure;
    if (figure !== this.figure) {
      this.figure = figure;
      this.retitle();
    }
  }
}
