/**
 * The state that a widget shares with its kernel, as anywidget passes it (anywidget.dev/en/afm), and a hook
 * for it. Its values are untrusted, like anything from a kernel; untrusted.ts reads them.
 */

import { useCallback, useSyncExternalStore } from 'react';

export interface IModel {
  get(name: string): unknown;
  /** `change:name`, or `msg:custom`, whose callbacks get the content of the kernel's message. */
  on(event: string, callback: (content: unknown) => void): void;
  off(event: string, callback: (content: unknown) => void): void;
  send(content: unknown): void;
}

/** Return the current value of one of the model's traits, and redraw when it changes. */
export function useTrait(model: IModel, name: string): unknown {
  const subscribe = useCallback(
    (onChange: () => void) => {
      model.on(`change:${name}`, onChange);
      return () => model.off(`change:${name}`, onChange);
    },
    [model, name]
  );
  return useSyncExternalStore(subscribe, () => model.get(name));
}

/** Return the language to show: the one requested in Python, else JupyterLab's, else the browser's. */
export function languageOf(model: IModel): string {
  const requested = model.get('language');
  if (typeof requested === 'string' && requested !== '') {
    return requested;
  }
  const lab = document.body.dataset.jpThemeName !== undefined;
  return lab ? document.documentElement.lang : navigator.language;
}
