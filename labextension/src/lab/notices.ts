/** Notifications with the results of commands. */

import { Dialog, Notification, showDialog } from '@jupyterlab/apputils';

import { opening, plain } from '../language/prose';
import type { Language } from '../language/language';

/** Milliseconds that a notification stays; JupyterLab's list of notifications keeps it. */
const READING_TIME = 15_000;
/** Largest number of characters that JupyterLab shows without cutting. */
const SHOWN = 140;

let language: Language | null = null;

/** Set the language of the notifications' buttons, one for the page. */
export function setLanguage(chosen: Language): void {
  language = chosen;
}

/** Show a notification. A long text is shortened, with a button for the whole. */
export function notify(kind: 'success' | 'info' | 'warning' | 'error', text: string): void {
  const message = plain(text);
  const beginning = opening(message, SHOWN);
  const label = language?.t('readAll') ?? '…';
  const whole = (): void => void showDialog({ body: message, buttons: [Dialog.okButton()] });
  Notification[kind](beginning, {
    autoClose: READING_TIME,
    actions: beginning === message ? [] : [{ label, callback: whole }]
  });
}
