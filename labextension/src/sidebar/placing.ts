/** Places the panel on the side that the settings name, and reveals it when the extension is loaded. */

import type { JupyterFrontEnd } from '@jupyterlab/application';

import type { Notebooks } from '../kernel/notebooks';
import type { Panel } from './panel';
import { preferences } from './preferences';

const RANK = 300;

/** Place the panel, and move it when the settings change. */
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

/** Show the panel and focus it. */
export function showPanel(shell: JupyterFrontEnd.IShell, panel: Panel): void {
  // Activating a visible panel hides it in Notebook 7.
  if (!panel.isVisible) {
    shell.activateById(panel.id);
  }
  panel.node.focus();
}

/** Collapse the side that holds the panel, which the user may have moved. */
export function hidePanel(shell: JupyterFrontEnd.IShell, panel: Panel): void {
  const { collapseLeft, collapseRight } = shell as ICollapsible;
  const left = [...shell.widgets('left')].includes(panel);
  (left ? collapseLeft : collapseRight)?.call(shell);
}

/** Reveal the panel once a page when the extension is loaded, if its side is collapsed. */
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

/** Members that the shells of JupyterLab and Notebook have, but their common interface lacks. */
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
