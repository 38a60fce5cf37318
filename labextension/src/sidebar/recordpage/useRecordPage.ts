/** A hook for the kernel's answer about one cell, requested when its page is opened. */

import { useEffect } from 'react';

import { readRecordPage, type IRecordPage } from '../../record/recordpage';
import type { NotebookSession } from '../../kernel/notebooks';
import { whyOf, type Sentence } from '../../language/sentence';
import type { IEntry } from '../../kernel/state';
import { useOwnedState } from '../../receipts/useOwnedState';

export type RecordPage =
  | { state: 'asking' }
  | { state: 'failed'; why: Sentence }
  | { state: 'answered'; details: IRecordPage };

/** The kernel of a saved record is gone and cannot be asked. */
const SAVED: RecordPage = {
  state: 'answered',
  details: { timeline: 'saved', samples: 'saved', receipt: null }
};

export function useRecordPage(
  session: NotebookSession,
  { key, record, saved }: IEntry
): RecordPage {
  const { runId, cell } = record;
  // Kept while the sidebar is hidden, so that the kernel is asked once.
  const [answer, setAnswer] = useOwnedState<IAnswer | null>(session, 'inside', null);
  const { sequence } = cell;
  const known = answer?.key === key && answer.page.state === 'answered';
  useEffect(() => {
    let wanted = true;
    const update = (page: RecordPage): void => {
      if (wanted) {
        setAnswer({ key, page });
      }
    };
    if (!saved && !known) {
      session.request('inside', { run: runId, sequence }).then(
        answered => update({ state: 'answered', details: readRecordPage(answered) }),
        (error: unknown) => update({ state: 'failed', why: whyOf(error) })
      );
    }
    return () => {
      wanted = false;
    };
  }, [session, key, runId, sequence, saved, known, setAnswer]);
  return saved ? SAVED : answer?.key === key ? answer.page : { state: 'asking' };
}

interface IAnswer {
  key: string;
  page: RecordPage;
}
