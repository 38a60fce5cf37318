/** Notifies the user of a long cell that ended out of sight: in another notebook, or in a background tab. */

import { Notification } from '@jupyterlab/apputils';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';

import { forEachNotebook, type NotebookSession, type Notebooks } from '../kernel/notebooks';
import type { Language } from '../language/language';
import { text } from '../language/untrusted';
import { formatSeconds } from '../record/format';
import type { IRecord } from '../record/record';
import { known } from '../record/words';
import { preferences } from '../sidebar/preferences';

/** Largest number of characters of a notebook's name, so that JupyterLab does not cut the notification. */
const NAME = 60;

export class FinishedCells {
  constructor(
    private readonly tracker: INotebookTracker,
    private readonly notebooks: Notebooks,
    private readonly language: Language
  ) {
    forEachNotebook(tracker, notebook => this.follow(notebook));
  }

  private follow(notebook: NotebookPanel): void {
    const session = this.notebooks.of(notebook);
    let before = session.model.state.ended;
    const notifications: string[] = [];
    const isSeen = (): boolean => notebook.isVisible && !document.hidden;
    const dismissSeen = (): void => {
      for (const id of isSeen() ? notifications.splice(0) : []) {
        Notification.dismiss(id);
      }
    };
    this.tracker.currentChanged.connect(dismissSeen);
    document.addEventListener('visibilitychange', dismissSeen);
    notebook.disposed.connect(() => document.removeEventListener('visibilitychange', dismissSeen));
    session.model.stateChanged.connect(({ state: { ended } }) => {
      const isNew = ended !== null && ended !== before;
      before = ended;
      if (isNew && !isSeen() && ranLong(ended)) {
        notifications.push(this.notify(session, ended));
      }
    });
  }

  /** Show the notification; returns its id. */
  private notify(session: NotebookSession, record: IRecord): string {
    const { t } = this.language;
    const { id, executionCount } = record.cell;
    const message = t(`ended_${record.outcome}`, {
      number: executionCount ?? ' ',
      notebook: text(session.name, NAME) ?? '',
      time: formatSeconds(known(record, 'wall_time')?.value ?? 0)
    });
    const show = (): void => {
      if (id !== null) {
        void session.goToCell(id);
      }
    };
    const actions = [{ label: t('showCell'), callback: show }];
    if (document.hidden && outside() === 'default') {
      const ask = (): void => void window.Notification.requestPermission();
      actions.push({ label: t('notifyOutside'), callback: ask });
    }
    // It stays until the user sees the notebook.
    const notificationId = Notification[record.outcome === 'ok' ? 'success' : 'warning'](message, {
      autoClose: false,
      actions
    });
    if (document.hidden && outside() === 'granted') {
      const notification = new window.Notification(message);
      notification.onclick = () => {
        window.focus();
        show();
        notification.close();
      };
    }
    return notificationId;
  }
}

function ranLong(record: IRecord): boolean {
  const { notifyAfter } = preferences.current;
  return notifyAfter > 0 && (known(record, 'wall_time')?.value ?? 0) >= notifyAfter;
}

/** Return the browser's permission for notifications; null if it has none. */
function outside(): NotificationPermission | null {
  return 'Notification' in window ? window.Notification.permission : null;
}
