/** How many notes a record has on its log, and how many of them are to act on; nothing where it has none. */

import type { ReactElement, ReactNode } from 'react';

import type { Translate } from '../i18n';
import { countNotes, notesInWords } from '../notes';
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
  return (
    <span className="jp-mlgpu-NotesCount">
      {countNotes(record).toActOn > 0 && <VerdictShape verdict="action" />}
      {children(sentences.join(' · '))}
    </span>
  );
}
