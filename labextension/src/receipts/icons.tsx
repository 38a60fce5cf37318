/**
 * Icons as JupyterLab draws them, each one element that base.css cuts to its shape. JupyterLab's own read their
 * picture's text anew in each place and listen for another one there: in lists of which many rows are drawn
 * between two frames, that takes too long. And other notebooks have no JupyterLab to take them from.
 */

import type { ReactElement } from 'react';

/** A class: a triangle that points right, or down where what it belongs to is open. */
export function caret(open: boolean): string {
  return open ? 'jp-mlgpu-Icon jp-mlgpu-Caret-down' : 'jp-mlgpu-Icon jp-mlgpu-Caret-right';
}

export function Caret(props: { open: boolean }): ReactElement {
  return <span className={caret(props.open)} aria-hidden="true" />;
}
