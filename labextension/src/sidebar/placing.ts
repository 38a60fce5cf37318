/** Where the panel stands: on the side that the settings name, and shown to who has just loaded us. */

import type { JupyterFrontEnd } from '@jupyterlab/application';

import type { Notebooks } from '../kernel/notebooks';
import type { Panel } from './panel';
import { preferences } from './preferences';

const RANK = 300;

/** Put the panel on its side now, and on the other when the settings change. */
export function placePanel(shell: JupyterFrontEnd.IShell, panel: Panel): void {
  let side: string | null = null;
  const place = (): void => {
    const { position } = preferences.current;
    if (position === side) {
      return;
    }
    const visible = panel.isVisible;
    side = position;
    shell.add(panel, position, { rank: RANK, type: 'Hardware' });
    if (visible) {
      shell.activateById(panel.id);
    }
  };
  preferences.changed.connect(place);
  place();
}

/** Show the panel, and give it the keyboard. */
export function showPanel(shell: JupyterFrontEnd.IShell, panel: Panel): void {
  // Notebook 7 hides the one that is asked for where it is shown already.
  if (!panel.isVisible) {
    shell.activateById(panel.id);
  }
  panel.node.focus();
}

/** Close the side on which the panel stands, be it that of the settings or one that the user moved it to. */
export function hidePanel(shell: JupyterFrontEnd.IShell, panel: Panel): void {
  const { collapseLeft, collapseRight } = shell as ICollapsible;
  const left = [...shell.widgets('left')].includes(panel);
  (left ? collapseLeft : collapseRight)?.call(shell);
}

/** Who loads the extension sees the sidebar, once a page, where nothing else stands in its place. */
export function revealOnce(
  shell: JupyterFrontEnd.IShell,
  notebooks: Notebooks,
  panel: Panel
): void {
  const reveal = (): void => {
    notebooks.greeted.disconnect(reveal);
    if (isFree(shell, preferences.current.position)) {
      shell.activateById(panel.id);
    }
  };
  notebooks.greeted.connect(reveal);
}

/** Both JupyterLab's shell and Notebook's know these; the interface they share does not. */
interface ICollapsible {
  leftCollapsed?: boolean;
  rightCollapsed?: boolean;
  collapseLeft?: () => void;
  collapseRight?: () => void;
}

function isFree(shell: JupyterFrontEnd.IShell, side: 'left' | 'right'): boolean {
  const { leftCollapsed, rightCollapsed } = shell as ICollapsible;
  return (side === 'left' ? leftCollapsed : rightCollapsed) === true;
}
