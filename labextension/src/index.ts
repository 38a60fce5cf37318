/** The sidebar's plug-in: the panel, its commands, and the menus that list them. */

import { ILayoutRestorer } from '@jupyterlab/application';
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, IToolbarWidgetRegistry } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import { IMainMenu } from '@jupyterlab/mainmenu';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { COMMANDS, addCommands } from './lab/commands';
import { languageOf } from './language/language';
import { addToContextMenu, addToLauncher, addToMenus, addToPalette } from './lab/menus';
import { Machine } from './kernel/machine';
import { Notebooks, type NotebookSession } from './kernel/notebooks';
import { Pages } from './sidebar/pages';
import { Panel } from './sidebar/panel';
import { placePanel, showPanel, revealOnce } from './sidebar/placing';
import { FinishedCells } from './lab/finished';
import { FoldedOutputs } from './lab/foldlines';
import { LineHeat } from './lab/lineheat';
import { LiveLines } from './lab/liveline';
import { setLanguage } from './lab/notices';
import { outputsProvider, lineProvider, restarterProvider } from './receipts/providers';
import { shownEntries } from './kernel/state';
import { keep } from './receipts/useOwnedState';
import type { IRecord } from './record/record';
import { Restarter } from './lab/restarter';
import { tellReceiptThreshold } from './lab/receiptthreshold';
import { PLUGIN, followSettings } from './lab/settings';
import { StatusItem } from './lab/statusbar';
import { TracingButton } from './lab/toolbar';
import { TracedNotebooks } from './lab/tracing';

/** Left of JupyterLab's own items, whose words change their width while a cell runs. */
const STATUS_RANK = -1;

const plugin: JupyterFrontEndPlugin<void> = {
  id: PLUGIN,
  description: 'Shows what the hardware did in each cell of the focused notebook.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [
    ITranslator,
    ILayoutRestorer,
    ISettingRegistry,
    ICommandPalette,
    IMainMenu,
    IToolbarWidgetRegistry,
    IStatusBar,
    ILauncher
  ],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    translator: ITranslator | null,
    restorer: ILayoutRestorer | null,
    settings: ISettingRegistry | null,
    palette: ICommandPalette | null,
    mainMenu: IMainMenu | null,
    toolbar: IToolbarWidgetRegistry | null,
    statusBar: IStatusBar | null,
    launcher: ILauncher | null
  ) => {
    const known = translator ?? nullTranslator;
    const language = languageOf(known.languageCode);
    const notebooks = new Notebooks(
      tracker,
      app.shell,
      new Machine(app.serviceManager.serverSettings)
    );
    const panel = new Panel(notebooks, new Pages(app.shell, language), language);
    placePanel(app.shell, panel);
    restorer?.add(panel, panel.id);
    revealOnce(app.shell, notebooks, panel);
    const traced = new TracedNotebooks(tracker, notebooks, language, () => panel.isVisible);
    tellReceiptThreshold(tracker, notebooks);
    const restarter = new Restarter(tracker, known, language);
    restarterProvider.restarter = restarter;
    restarterProvider.changed.emit();
    lineProvider.at = node => notebooks.at(node);
    const show = (): void => showPanel(app.shell, panel);
    lineProvider.page = (node, record) => pageOpener(notebooks.at(node), record, show);
    lineProvider.changed.emit();
    outputsProvider.at = new FoldedOutputs(tracker).at;
    outputsProvider.changed.emit();
    setLanguage(language);
    new LiveLines(tracker, notebooks, language);
    new LineHeat(tracker, notebooks, language);
    new FinishedCells(tracker, notebooks, language);

    addCommands({ app, tracker, notebooks, panel, traced, restarter, language });
    addToContextMenu(app);
    if (palette !== null) {
      addToPalette(palette, language);
    }
    if (mainMenu !== null) {
      addToMenus(app, mainMenu, language);
    }
    if (launcher !== null) {
      addToLauncher(launcher, language);
    }
    const showNow = (): void => void app.commands.execute(COMMANDS.now);
    toolbar?.addFactory<NotebookPanel>('Notebook', 'jupyter-mlgpu-device', notebook => {
      const session = notebooks.of(notebook);
      return new TracingButton(session, language, {
        start: () => void traced.start(session),
        stop: () => void traced.stop(session),
        showNow
      });
    });
    const item = new StatusItem(notebooks, language, showNow);
    statusBar?.registerStatusItem('jupyter-mlgpu:status', {
      item,
      align: 'left',
      rank: STATUS_RANK,
      isActive: () => item.active,
      activeStateChanged: item.activeChanged
    });
    if (settings !== null) {
      void language.ready.then(() => followSettings(settings, language.t));
    }
  }
};

/** Return a function that opens the page of a record; null if no notebook has the receipt. */
function pageOpener(
  session: NotebookSession | null,
  record: IRecord,
  show: () => void
): (() => void) | null {
  if (session === null) {
    return null;
  }
  return () => {
    const entry = shownEntries(session.model.state).findLast(
      one => one.record.runId === record.runId && one.record.cell.sequence === record.cell.sequence
    );
    keep(session, 'opened', entry?.key ?? null);
    keep(session, 'view', 'cells');
    show();
  };
}

export default plugin;
