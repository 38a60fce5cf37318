/** Which of the sidebar's views is chosen for a notebook: also after a reload of the page. */

import { useCallback } from 'react';

import { useOwnedState } from '../receipts/useOwnedState';

const VIEWS = ['now', 'cells', 'logs', 'figures'] as const;

export type View = (typeof VIEWS)[number];

/**
 * The cells are first. Records are what one comes back for, the running cell stands above every view, and
 * as long as nobody looks at Now no kernel is asked to measure anything.
 */
const FIRST: View = 'cells';

export function useView(notebook: { name: string }): [view: View, set: (view: View) => void] {
  const key = `jupyter-mlgpu:view:${notebook.name}`;
  const [view, setView] = useOwnedState<View>(notebook, 'view', stored(key) ?? FIRST);
  const set = useCallback(
    (next: View): void => {
      setView(next);
      store(key, next);
    },
    [key, setView]
  );
  return [view, set];
}

/** Of this tab of the browser alone, and gone with it. A browser may keep no such thing. */
function stored(key: string): View | null {
  try {
    return VIEWS.find(view => view === sessionStorage.getItem(key)) ?? null;
  } catch {
    return null;
  }
}

function store(key: string, view: View): void {
  try {
    sessionStorage.setItem(key, view);
  } catch {
    // It is chosen all the same, until the page is reloaded.
  }
}
