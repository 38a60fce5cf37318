/**
 * What a widget shares with its kernel, as anywidget hands it over (anywidget.dev/en/afm), and how views follow it.
 * What it holds is as hostile as anything from a kernel: untrusted.ts reads it.
 */

import { useCallback, useSyncExternalStore } from 'react';

export interface IModel {
  get(name: string): unknown;
  on(event: string, callback: () => void): void;
  off(event: string, callback: () => void): void;
  send(content: unknown): void;
}

/** The present value of one of the model's traits. */
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

/**
 * The language to show: the one asked for in Python; else JupyterLab's, which it writes on the page; else the
 * browser's.
 */
export function languageOf(model: IModel): string {
  const asked = model.get('language');
  if (typeof asked === 'string' && asked !== '') {
    return asked;
  }
  const lab = document.body.dataset.jpThemeName !== undefined;
  return lab ? document.documentElement.lang : navigator.language;
}
