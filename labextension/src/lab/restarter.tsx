/** Restarts a notebook's kernel and runs its cells again up to one, after asking the user. */

import { Dialog, Notification, showDialog } from '@jupyterlab/apputils';
import type { Cell } from '@jupyterlab/cells';
import { NotebookActions, type INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import type { ITranslator } from '@jupyterlab/translation';
import type { ReactElement } from 'react';

import type { Message, Translate } from '../language/i18n';
import type { Language } from '../language/language';
import { forEachNotebook } from '../kernel/notebooks';
import { preparation } from '../kernel/restart';
import { restarterProvider, type IFailure, type IRestarter } from '../receipts/providers';
import { runSilently } from '../kernel/silently';

/** A cell of an open notebook. */
interface IPlace {
  notebook: NotebookPanel;
  cell: Cell;
}

export class Restarter implements IRestarter {
  constructor(
    private readonly tracker: INotebookTracker,
    private readonly translator: ITranslator,
    private readonly language: Language
  ) {
    forEachNotebook(tracker, notebook => this.watch(notebook));
  }

  private get t(): Translate {
    return this.language.t;
  }

  obstacle(node: Node): Message | 'elsewhere' | null {
    const place = this.find(node);
    return place === null ? 'elsewhere' : obstacleAt(place);
  }

  async restart(node: Node, verbose: string | null, begin: () => void): Promise<IFailure | null> {
    const place = this.find(node);
    if (place === null || obstacleAt(place) !== null || !(await this.ask(place, verbose))) {
      return null;
    }
    const { context, content, sessionContext } = place.notebook;
    begin();
    await sessionContext.restartKernel();
    // JupyterLab does not pass on the error of a failed restart.
    if (!sessionContext.isReady) {
      return { message: 'restartFailed', why: '' };
    }
    const problem =
      verbose === null ? null : await runSilently(sessionContext, preparation(verbose));
    if (problem !== null) {
      return { message: 'settingFailed', why: problem.why };
    }
    const ran = await NotebookActions.runCells(
      content,
      upTo(place),
      context.sessionContext,
      undefined,
      this.translator
    );
    if (!ran) {
      Notification.warning(this.t('replayStopped'), { autoClose: false });
    }
    return null;
  }

  private async ask(place: IPlace, verbose: string | null): Promise<boolean> {
    const { sessionContext } = place.notebook;
    const count = upTo(place).filter(
      ({ model }) => model.type === 'code' && model.sharedModel.getSource().trim() !== ''
    ).length;
    const answer = await showDialog({
      title: this.t('restartTitle', { notebook: place.notebook.title.label }),
      body: (
        <RestartQuestion
          count={count}
          busy={sessionContext.session?.kernel?.status === 'busy'}
          verbose={verbose}
          t={this.t}
        />
      ),
      buttons: [
        Dialog.cancelButton({ label: this.t('cancel') }),
        Dialog.warnButton({ label: this.t('restartAndRun') })
      ],
      // Cancel is the default, so that a stray Enter loses nothing.
      defaultButton: 0
    });
    // During the dialog the notebook may have been closed or the cell deleted.
    return answer.button.accept && !place.cell.isDisposed && obstacleAt(place) === null;
  }

  private find(node: Node): IPlace | null {
    let place: IPlace | null = null;
    this.tracker.forEach(notebook => {
      const cell = notebook.content.widgets.find(one => one.node.contains(node));
      place ??= cell ? { notebook, cell } : null;
    });
    return place;
  }

  private watch(notebook: NotebookPanel): void {
    const { sessionContext } = notebook;
    sessionContext.statusChanged.connect(() => restarterProvider.changed.emit());
    sessionContext.kernelChanged.connect(() => restarterProvider.changed.emit());
  }
}

/** Return why the cells up to this one cannot be run again; null if they can. */
function obstacleAt({ notebook, cell }: IPlace): Message | null {
  const kernel = notebook.sessionContext.session?.kernel;
  // A button in a stranger's notebook must not run code; an untrusted cell's button is disabled.
  if (!cell.model.trusted) {
    return 'notTrusted';
  }
  if (!kernel) {
    return 'kernel_none';
  }
  return kernel.status === 'dead' ? 'kernel_dead' : null;
}

function upTo({ notebook, cell }: IPlace): Cell[] {
  const { widgets } = notebook.content;
  return widgets.slice(0, widgets.indexOf(cell) + 1);
}

/** The consequences of a restart, for the user to confirm. */
function RestartQuestion(props: {
  /** Number of code cells that run again. */
  count: number;
  busy: boolean;
  verbose: string | null;
  t: Translate;
}): ReactElement {
  const { count, busy, verbose, t } = props;
  return (
    <div className="jp-mlgpu-Question">
      <p>{t('restartLoses')}</p>
      {busy && (
        <p>
          <strong>{t('restartStops')}</strong>
        </p>
      )}
      {verbose !== null && (
        <p>
          {t('restartSets')} <code>{`%mlc_trace verbose ${verbose}`}</code>
        </p>
      )}
      <p>{t('restartRuns', { count })}</p>
    </div>
  );
}
