/** What the kernel answers about one cell, asked when its page is opened. */

import { useEffect } from 'react';

import { readInside } from '../../record/inside';
import type { IInside } from '../../record/inside';
import type { NotebookSession } from '../../kernel/notebooks';
import { whyOf } from '../../language/sentence';
import type { Sentence } from '../../language/sentence';
import type { IEntry } from '../../kernel/state';
import { useKept } from '../../receipts/useKept';

export type Inside =
  { state: 'asking' } | { state: 'failed'; why: Sentence } | { state: 'told'; told: IInside };

/** Nobody need be asked about a record of the saved notebook: its kernel is gone. */
const SAVED: Inside = { state: 'told', told: { timeline: 'saved', looks: 'saved' } };

export function useInside(session: NotebookSession, { key, record, saved }: IEntry): Inside {
  const { runId, cell } = record;
  // Kept while the sidebar is hidden, so that the kernel is asked once.
  const [answer, setAnswer] = useKept<IAnswer | null>(session, 'inside', null);
  const { sequence } = cell;
  const known = answer?.key === key && answer.inside.state === 'told';
  useEffect(() => {
    let wanted = true;
    const tell = (inside: Inside): void => {
      if (wanted) {
        setAnswer({ key, inside });
      }
    };
    if (!saved && !known) {
      session.tell('inside', { run: runId, sequence }).then(
        told => tell({ state: 'told', told: readInside(told) }),
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
  inside: Inside;
}
