/** Sentences in the corner of the page, where commands say what came of them. */

import { Notification } from '@jupyterlab/apputils';

/** Milliseconds that a sentence of a few lines stands; it stays in JupyterLab's list of notifications. */
const READING_TIME = 15_000;

export function notify(kind: 'success' | 'info' | 'warning' | 'error', sentence: string): void {
  Notification[kind](sentence, { autoClose: READING_TIME });
}
