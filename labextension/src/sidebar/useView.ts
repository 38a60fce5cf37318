/** A hook for the selected view of a notebook, which survives a reload of the page. */

import { useCallback } from 'react';

import { useOwnedState } from '../receipts/useOwnedState';

const VIEWS = ['now', 'cells', 'logs'] as const;

export type View = (typeof VIEWS)[number];

/**
 * The view of a notebook opened first. Users come back for records, the running cell is above every view, and
 * counters are requested only while Now is open.
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

/** Read from the storage of this browser tab, which may be disabled. */
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
    // Without storage the choice lasts until the page is reloaded.
  }
}
