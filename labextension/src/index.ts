/**
 * The sidebar's plug-in: one panel in JupyterLab's right area that follows the focused notebook.
 */

import { ILabShell, ILayoutRestorer } from '@jupyterlab/application';
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, showErrorMessage } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { translateTo } from './i18n';
import type { Translate } from './i18n';
import { loadMessages } from './messages';
import { Notebooks } from './notebooks';
import { Panel } from './panel';
import { door } from './restartdoor';
import { Restarter } from './restarter';

const OPEN = 'jupyter-mlgpu:open';
const RESTART = 'jupyter-mlgpu:restart-and-run-to-here';

const plugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-mlgpu:sidebar',
  description: 'Shows what the hardware did in each cell of the focused notebook.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ITranslator, ILabShell, ILayoutRestorer, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    translator: ITranslator | null,
    labShell: ILabShell | null,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null
  ) => {
    const known = translator ?? nullTranslator;
    const { languageCode } = known;
    const t = translateTo(languageCode);
    const notebooks = new Notebooks(tracker, app.shell);
    const panel = new Panel(notebooks, t, loadMessages(languageCode));
    app.shell.add(panel, 'right', { rank: 300, type: 'Hardware' });
    restorer?.add(panel, panel.id);
    app.commands.addCommand(OPEN, {
      label: t('open'),
      execute: () => {
        app.shell.activateById(panel.id);
        panel.node.focus();
      }
    });
    palette?.addItem({ command: OPEN, category: t('title') });
    const restarter = new Restarter(tracker, known, t);
    door.open(restarter);
    addRestart(app.commands, tracker, restarter, t);
    palette?.addItem({ command: RESTART, category: t('title') });
    if (labShell !== null) {
      revealOnce(labShell, notebooks, panel);
    }
  }
};

/** Restart and run up to the active cell, from the command palette. */
function addRestart(
  commands: JupyterFrontEnd['commands'],
  tracker: INotebookTracker,
  restarter: Restarter,
  t: Translate
): void {
  commands.addCommand(RESTART, {
    label: t('restartCommand'),
    isEnabled: () =>
      tracker.activeCell !== null && restarter.obstacle(tracker.activeCell.node) === null,
    execute: async () => {
      const cell = tracker.activeCell;
      const failure = cell && (await restarter.restart(cell.node, null, () => undefined));
      if (failure) {
        await showErrorMessage(t('restartCommand'), t(failure.message, { why: failure.why }));
      }
    }
  });
}

/** Who loads the extension sees the sidebar, once a page, where nothing else stands in its place. */
function revealOnce(shell: ILabShell, notebooks: Notebooks, panel: Panel): void {
  const reveal = (): void => {
    notebooks.greeted.disconnect(reveal);
    if (shell.rightCollapsed) {
      shell.activateById(panel.id);
    }
  };
  notebooks.greeted.connect(reveal);
}

export default plugin;
