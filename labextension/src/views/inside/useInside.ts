/** What the kernel answers about one cell, asked when its page is opened. */

import { useEffect, useState } from 'react';

import { readInside } from '../../inside';
import type { IInside } from '../../inside';
import type { NotebookSession } from '../../notebooks';
import type { IEntry } from '../../state';

export type Inside =
  { state: 'asking' } | { state: 'failed'; why: string } | { state: 'told'; told: IInside };

/** Nobody need be asked about a record of the saved notebook: its kernel is gone. */
const SAVED: Inside = { state: 'told', told: { timeline: 'saved', looks: 'saved' } };

export function useInside(session: NotebookSession, { record, saved }: IEntry): Inside {
  const { runId, cell } = record;
  const [answer, setAnswer] = useState<Inside>({ state: 'asking' });
  const { sequence } = cell;
  useEffect(() => {
    let wanted = true;
    const tell = (told: Inside): void => {
      if (wanted) {
        setAnswer(told);
      }
    };
    if (!saved) {
      session.tell('inside', { run: runId, sequence }).then(
        told => tell({ state: 'told', told: readInside(told) }),
        (error: unknown) =>
          tell({ state: 'failed', why: error instanceof Error ? error.message : String(error) })
      );
    }
    return () => {
      wanted = false;
    };
  }, [session, runId, sequence, saved]);
  return saved ? SAVED : answer;
}
