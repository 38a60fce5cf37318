/** One sentence about the whole notebook: what its time was spent on, and how much the GPU worked. */

import { useEffect, type ReactElement } from 'react';

import type { NotebookSession } from '../kernel/notebooks';
import { sourceOf } from '../kernel/saved';
import { hasOwnRecords, shownEntries, type IEntry, type IState } from '../kernel/state';
import type { Translate } from '../language/i18n';
import { said, type Sentence } from '../language/sentence';
import { object } from '../language/untrusted';
import { useOwnedState } from '../receipts/useOwnedState';
import { ask } from '../record/asking';

/** Milliseconds without a new record before the sentence is requested. */
const QUIET = 1_000;
/** Most characters of the records that are sent to the server; of a larger notebook the newest. */
const MOST = 3_000_000;
/** Parts of a record that the sentence does not need. */
const LEFT_OUT = new Set(['logs', 'ops', 'notes', 'native', 'lines', 'facts', 'head']);

export function NotebookAnswer(props: {
  session: NotebookSession;
  state: IState;
  t: Translate;
}): ReactElement {
  const { session, state, t } = props;
  const [answer, setAnswer] = useOwnedState<Sentence>(session, 'answer', '');
  const own = hasOwnRecords(state);
  const { saved, entries } = state;
  const newest = (own ? entries : saved).at(-1)?.key ?? '';
  const busy = state.running.length > 0;
  useEffect(() => {
    // The kernel is not asked while a cell runs.
    if (busy) {
      return undefined;
    }
    let wanted = true;
    const timer = setTimeout(() => {
      const asked = own ? session.request('answer') : askServer(saved);
      asked.then(
        answered => wanted && setAnswer(said(object(answered)?.answer)),
        () => wanted && setAnswer('')
      );
    }, QUIET);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [session, own, newest, busy, saved, setAnswer]);
  // The place is kept while nothing is known, so that the list does not move.
  const words = t.say(answer);
  // Rows of earlier kernels stand in the same list, and the kernel does not know of them.
  const partial = words !== '' && own && shownEntries(state).length > entries.length;
  return (
    <p className="jp-mlgpu-NotebookAnswer">
      {partial ? t('answerOfKernel', { answer: words }) : words}
    </p>
  );
}

async function askServer(saved: readonly IEntry[]): Promise<unknown> {
  const records: object[] = [];
  let size = 0;
  for (const { record } of [...saved].reverse()) {
    const data = Object.entries(sourceOf(record)?.data ?? {});
    const small = Object.fromEntries(data.filter(([part]) => !LEFT_OUT.has(part)));
    size += JSON.stringify(small).length;
    if (size > MOST) {
      break;
    }
    records.push(small);
  }
  return records.length > 0 ? ask('answer', { records: records.reverse() }) : null;
}
