/** Sentences in the corner of the page, where commands say what came of them. */

import { Dialog, Notification, showDialog } from '@jupyterlab/apputils';

import { opening, plain } from '../language/prose';
import type { Language } from '../language/language';

/** Milliseconds that a sentence of a few lines stands; it stays in JupyterLab's list of notifications. */
const READING_TIME = 15_000;
/** Characters of which JupyterLab shows all. */
const SHOWN = 140;

let language: Language | null = null;

/** In which language the buttons of notifications speak: one a page. */
export function setLanguage(spoken: Language): void {
  language = spoken;
}

/** Tell something; of a long text the beginning, with all of it behind a button. */
export function notify(kind: 'success' | 'info' | 'warning' | 'error', text: string): void {
  const told = plain(text);
  const shown = opening(told, SHOWN);
  const label = language?.t('readAll') ?? '…';
  const whole = (): void => void showDialog({ body: told, buttons: [Dialog.okButton()] });
  Notification[kind](shown, {
    autoClose: READING_TIME,
    actions: shown === told ? [] : [{ label, callback: whole }]
  });
}
