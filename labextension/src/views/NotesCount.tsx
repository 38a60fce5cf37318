/** How many notes a record has on its log, and how many of them are to act on; nothing where it has none. */

import type { ReactElement, ReactNode } from 'react';

import type { Translate } from '../i18n';
import { isToActOn, notesInWords, worstFirst } from '../notes';
import type { IRecord } from '../record';
import { VerdictShape } from './Verdict';

export function NotesCount(props: {
  record: IRecord;
  t: Translate;
  children: (words: string) => ReactNode;
}): ReactElement | null {
  const { record, t, children } = props;
  const sentences = notesInWords(record, t);
  if (sentences.length === 0) {
    return null;
  }
  const [worst] = worstFirst(record.logs);
  return (
    <span className="jp-mlgpu-NotesCount">
      {worst && isToActOn(worst.verdict) && <VerdictShape verdict={worst.verdict} />}
      {children(sentences.join(' · '))}
    </span>
  );
}
