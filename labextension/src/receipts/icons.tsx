/**
 * Icons of one element each, which base.css cuts to shape. JupyterLab's own parse their SVG at each use and
 * listen for changes, which is too slow for lists that draw many rows between two frames. Other notebooks
 * have no JupyterLab icons.
 */

import type { ReactElement } from 'react';

/** Return the classes of a triangle that points right, or down if `open`. */
export function caret(open: boolean): string {
  return open ? 'jp-mlgpu-Icon jp-mlgpu-Caret-down' : 'jp-mlgpu-Icon jp-mlgpu-Caret-right';
}

export function Caret(props: { open: boolean }): ReactElement {
  return <span className={caret(props.open)} aria-hidden="true" />;
}
