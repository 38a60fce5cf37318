/** The number of a record's log messages, and of those to act on; nothing if it has none. */

import type { ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import { messagesOf } from '../record/head';
import { isToActOn, worstFirst } from '../record/logs';
import type { IRecord } from '../record/record';
import { VerdictShape } from './Verdict';

export function NotesCount(props: {
  record: IRecord;
  /** Opens its lines in the log; without it the words are no button. */
  onLogs?: () => void;
  t: Translate;
}): ReactElement | null {
  const { record, onLogs, t } = props;
  const words = messagesOf(record, t);
  if (words === '') {
    return null;
  }
  const [worst] = worstFirst(record.logs);
  return (
    <span className="jp-mlgpu-NotesCount">
      {worst && isToActOn(worst.verdict) && <VerdictShape verdict={worst.verdict} />}
      {onLogs === undefined ? (
        words
      ) : (
        <button
          type="button"
          className="jp-mlgpu-TextButton"
          title={t('showLogs')}
          onClick={onLogs}
        >
          {words}
        </button>
      )}
    </span>
  );
}
