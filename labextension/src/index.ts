/**
 * The sidebar's plug-in: one panel in JupyterLab's right area that follows the focused notebook.
 */

import { ILabShell, ILayoutRestorer } from '@jupyterlab/application';
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { translateTo } from './i18n';
import { loadMessages } from './messages';
import { Notebooks } from './notebooks';
import { Panel } from './panel';

const OPEN = 'jupyter-mlgpu:open';

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
    const { languageCode } = translator ?? nullTranslator;
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
    if (labShell !== null) {
      revealOnce(labShell, notebooks, panel);
    }
  }
};

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
