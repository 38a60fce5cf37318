/**
 * Adds the commands to the palette, the launcher, a submenu of Kernel, and the context menu of cells.
 */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ICommandPalette } from '@jupyterlab/apputils';
import type { ILauncher } from '@jupyterlab/launcher';
import type { IMainMenu } from '@jupyterlab/mainmenu';
import { MenuSvg } from '@jupyterlab/ui-components';

import { COMMANDS } from './commands';
import type { Language } from '../language/language';

/** After the entries of JupyterLab's own Kernel menu. */
const MENU_RANK = 60;
/** After the entries for a cell's outputs, before those for the whole notebook. */
const CONTEXT_RANK = 15;

export function addToPalette(palette: ICommandPalette, language: Language): void {
  addInLanguage(language, () => {
    const category = language.t('title');
    return Object.values(COMMANDS).map(command => palette.addItem({ command, category }));
  });
}

/**
 * Add a card for the lessons. It is replaced with the language, because the launcher does not update labels.
 */
export function addToLauncher(launcher: ILauncher, language: Language): void {
  addInLanguage(language, () => [launcher.add({ command: COMMANDS.lessons })]);
}

/** Add items now, and again in place of the old ones when the language has changed. */
function addInLanguage(language: Language, add: () => { dispose(): void }[]): void {
  let items = add();
  language.changed.connect(() => {
    items.forEach(item => item.dispose());
    items = add();
  });
}

export function addToMenus(app: JupyterFrontEnd, mainMenu: IMainMenu, language: Language): void {
  const submenu = new MenuSvg({ commands: app.commands });
  submenu.id = 'jp-mainmenu-jupyter-mlgpu';
  const name = (): void => void (submenu.title.label = language.t('title'));
  language.changed.connect(name);
  name();
  const groups = [
    [COMMANDS.open, COMMANDS.now, COMMANDS.record],
    [COMMANDS.device, COMMANDS.trace, COMMANDS.traceWhenOpened],
    [COMMANDS.save],
    [COMMANDS.lessons],
    [COMMANDS.restart]
  ];
  groups.forEach((group, index) => {
    if (index > 0) {
      submenu.addItem({ type: 'separator' });
    }
    group.forEach(command => submenu.addItem({ command }));
  });
  mainMenu.kernelMenu.addGroup([{ type: 'submenu', submenu }], MENU_RANK);
}

export function addToContextMenu(app: JupyterFrontEnd): void {
  app.contextMenu.addItem({
    command: COMMANDS.record,
    args: { atPointer: true },
    selector: '.jp-Notebook .jp-CodeCell',
    rank: CONTEXT_RANK
  });
}
