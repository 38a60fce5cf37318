/** The door from a receipt to the page of its cell in the sidebar, where its strip is larger. */

import { shownEntries } from '../kernel/state';
import type { NotebookSession } from '../kernel/notebooks';
import type { IRecord } from '../record/record';
import { keep } from '../receipts/useOwnedState';

/** What opens the page of a record; null where no notebook has the receipt. */
export function pageOpener(
  session: NotebookSession | null,
  record: IRecord,
  show: () => void
): (() => void) | null {
  if (session === null) {
    return null;
  }
  return () => {
    const entry = shownEntries(session.model.state).findLast(
      one => one.record.runId === record.runId && one.record.cell.sequence === record.cell.sequence
    );
    keep(session, 'opened', entry?.key ?? null);
    keep(session, 'view', 'cells');
    show();
  };
}
