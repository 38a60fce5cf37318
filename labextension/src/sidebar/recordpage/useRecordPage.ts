/** What the kernel answers about one cell, asked when its page is opened. */

import { useEffect } from 'react';

import { readRecordPage } from '../../record/recordpage';
import type { IRecordPage } from '../../record/recordpage';
import type { NotebookSession } from '../../kernel/notebooks';
import { whyOf } from '../../language/sentence';
import type { Sentence } from '../../language/sentence';
import type { IEntry } from '../../kernel/state';
import { useKept } from '../../receipts/useKept';

export type RecordPage =
  { state: 'asking' } | { state: 'failed'; why: Sentence } | { state: 'told'; told: IRecordPage };

/** Nobody need be asked about a record of the saved notebook: its kernel is gone. */
const SAVED: RecordPage = { state: 'told', told: { timeline: 'saved', looks: 'saved' } };

export function useRecordPage(
  session: NotebookSession,
  { key, record, saved }: IEntry
): RecordPage {
  const { runId, cell } = record;
  // Kept while the sidebar is hidden, so that the kernel is asked once.
  const [answer, setAnswer] = useKept<IAnswer | null>(session, 'inside', null);
  const { sequence } = cell;
  const known = answer?.key === key && answer.inside.state === 'told';
  useEffect(() => {
    let wanted = true;
    const tell = (inside: RecordPage): void => {
      if (wanted) {
        setAnswer({ key, inside });
      }
    };
    if (!saved && !known) {
      session.tell('inside', { run: runId, sequence }).then(
        told => tell({ state: 'told', told: readRecordPage(told) }),
        (error: unknown) => tell({ state: 'failed', why: whyOf(error) })
      );
    }
    return () => {
      wanted = false;
    };
  }, [session, key, runId, sequence, saved, known, setAnswer]);
  return saved ? SAVED : answer?.key === key ? answer.inside : { state: 'asking' };
}

interface IAnswer {
  key: string;
  inside: RecordPage;
}
