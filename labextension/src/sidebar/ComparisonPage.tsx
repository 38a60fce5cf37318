/**
 * The comparison of two records as in `%mlc_trace compare`, by their kernel, or by the server for saved ones.
 */

import { Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { ReactElement } from 'react';

import { cellNumber } from '../record/cell';
import { cellOf } from '../record/cellrows';
import type { Translate } from '../language/i18n';
import type { NotebookSession } from '../kernel/notebooks';
import { whyOf, type Sentence } from '../language/sentence';
import { shownEntries, type IEntry, type IState } from '../kernel/state';
import { ask as askServer } from '../record/asking';
import { object } from '../language/untrusted';
import { PageView } from '../page/figurewidget';
import { readPage, type IPage } from '../page/page';
import { RunAgain } from './RunAgain';
import { Button, GoToCell } from '../receipts/controls';

/** The comparison with the number of runs that it is based on, or why there is none. */
type Answer = { page: IPage; runs: number } | { why: Sentence };

export function ComparisonPage(props: {
  /** The older record. */
  a: IEntry;
  b: IEntry;
  session: NotebookSession;
  state: IState;
  onBack: () => void;
  onGo: (entry: IEntry) => void;
  t: Translate;
}): ReactElement {
  const { a, b, session, state, onBack, onGo, t } = props;
  const live = state.kernel === 'live' && !a.saved && !b.saved;
  const runs = useMemo(() => countRuns(shownEntries(state), a, b), [state, a, b]);
  const [answer, ask] = useAnswer(session, live, a, b, runs);
  // Records arrive shortly after their cells end; the comparison is repeated when all are there.
  const [wanted, setWanted] = useState<number | null>(null);
  const waits = wanted !== null && !(answer !== null && 'runs' in answer && answer.runs >= wanted);
  useEffect(() => {
    if (waits && runs >= wanted) {
      ask();
    }
  }, [waits, wanted, runs, ask]);
  const [headline, page] = useMemo(() => split(answer), [answer]);
  // The sentences name the two by their numbers, and by letters if those are equal.
  const alike = cellNumber(a.record.cell) === cellNumber(b.record.cell);
  const back = useRef<HTMLButtonElement>(null);
  useEffect(() => back.current?.focus(), []);
  return (
    <section className="jp-mlgpu-Page" aria-label={t('comparison')}>
      <div className="jp-mlgpu-Comparison-head">
        <button ref={back} type="button" className="jp-mlgpu-TextButton" onClick={onBack}>
          {t('backToList')}
        </button>
      </div>
      <div className="jp-mlgpu-Comparison">
        <ul role="list">
          <Side letter={alike && 'A'} entry={a} onGo={onGo} t={t} />
          <Side letter={alike && 'B'} entry={b} onGo={onGo} t={t} />
        </ul>
        {answer === null || 'why' in answer || page === null ? (
          <p className="jp-mlgpu-Note" role="status">
            {answer === null ? t('comparing') : t('notCompared', { why: whyNot(answer, t) })}
          </p>
        ) : (
          <>
            {headline !== null && <p className="jp-mlgpu-Comparison-headline">{t.say(headline)}</p>}
            {live && (
              <RunAgain
                records={[a.record, b.record]}
                session={session}
                onRan={made => setWanted(runs + made)}
                t={t}
              >
                {/* Not automatically: a running cell must not be disturbed. */}
                {answer.runs < runs && !waits && (
                  <p className="jp-mlgpu-Comparison-newer">
                    <span role="status">{t('newerRuns')}</span>{' '}
                    <Button variant="Button" label={t('compareAgain')} onClick={ask} />
                  </p>
                )}
              </RunAgain>
            )}
            <Suspense>
              <PageView page={page} t={t} />
            </Suspense>
          </>
        )}
      </div>
    </section>
  );
}

function whyNot(answer: Answer, t: Translate): string {
  return ('why' in answer && t.say(answer.why)) || t('noAnswer');
}

/** Return the headline, and the page without it. */
function split(answer: Answer | null): [headline: Sentence | null, page: IPage | null] {
  if (answer === null || 'why' in answer) {
    return [null, null];
  }
  const { headline } = answer.page;
  return headline === '' ? [null, answer.page] : [headline, { ...answer.page, headline: '' }];
}

function Side(props: {
  letter: string | false;
  entry: IEntry;
  onGo: (entry: IEntry) => void;
  t: Translate;
}): ReactElement {
  const { letter, entry, onGo, t } = props;
  const started = new Date(entry.record.startedAt);
  return (
    <li>
      {letter && <b>{letter}</b>}
      <GoToCell cell={entry.record.cell} onGo={() => onGo(entry)} t={t} />
      {!Number.isNaN(started.getTime()) && (
        <span className="jp-mlgpu-Quiet">{started.toLocaleTimeString()}</span>
      )}
    </li>
  );
}

/** Return the comparison, null until it has come, and a function that repeats it. */
function useAnswer(
  session: NotebookSession,
  live: boolean,
  a: IEntry,
  b: IEntry,
  runs: number
): [Answer | null, () => void] {
  const [answer, setAnswer] = useState<Answer | null>(null);
  const newest = useRef(0);
  const known = useRef(runs);
  useEffect(() => {
    known.current = runs;
  }, [runs]);
  const ask = useCallback(() => {
    const [number, counted] = [(newest.current += 1), known.current];
    void comparison(session, live, a, b, counted).then(next => {
      // A newer request has been sent meanwhile.
      if (number === newest.current) {
        setAnswer(next);
      }
    });
  }, [session, live, a, b]);
  useEffect(ask, [ask]);
  return [answer, ask];
}

async function comparison(
  session: NotebookSession,
  live: boolean,
  a: IEntry,
  b: IEntry,
  runs: number
): Promise<Answer> {
  try {
    const page = readPage(
      live
        ? object(await session.request('compare', { a: named(a), b: named(b) }))?.page
        : await askServer('comparison', { a: receiptOf(session, a), b: receiptOf(session, b) })
    );
    return typeof page === 'string' ? { why: '' } : { page, runs };
  } catch (error) {
    return { why: whyOf(error) };
  }
}

/** Return the key of a record in the kernel. */
function named({ record }: IEntry): object {
  return { run: record.runId, sequence: record.cell.sequence };
}

function receiptOf(session: NotebookSession, { record }: IEntry): object | null {
  return session.receipt(record)?.data ?? null;
}

/** Return the number of records of the two cells. */
function countRuns(entries: readonly IEntry[], a: IEntry, b: IEntry): number {
  const cells = [cellOf(a.record), cellOf(b.record)];
  return entries.filter(({ record }) => cells.includes(cellOf(record))).length;
}
