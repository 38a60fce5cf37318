/** Sends each kernel the threshold in seconds from which a cell gets a receipt for its time alone. */

import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';

import { forEachNotebook, type Notebooks } from '../kernel/notebooks';
import { DEFAULTS, preferences } from '../sidebar/preferences';

/** Follow the setting. Its default is not sent, because kernels start with it, or with a setting of their environment. */
export function tellReceiptThreshold(tracker: INotebookTracker, notebooks: Notebooks): void {
  const sent = new WeakMap<NotebookPanel, number>();
  const send = (notebook: NotebookPanel): void => {
    const session = notebooks.of(notebook);
    if (session.model.state.kernel !== 'live') {
      sent.delete(notebook);
      return;
    }
    const seconds = preferences.current.receiptSeconds;
    if ((sent.get(notebook) ?? DEFAULTS.receiptSeconds) !== seconds) {
      sent.set(notebook, seconds);
      session.request('receipts', { from_seconds: seconds }).catch((error: unknown) => {
        console.warn('jupyter_mlgpu could not set from when on cells get receipts:', error);
      });
    }
  };
  forEachNotebook(tracker, notebook => {
    notebooks.of(notebook).model.stateChanged.connect(() => send(notebook));
    send(notebook);
  });
  preferences.changed.connect(() => tracker.forEach(send));
}
