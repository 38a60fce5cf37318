/** The explained log lines of a cell, the worst first. */

import type { ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import { worstFirst, type ILogLine } from '../record/logs';
import type { IRecord } from '../record/record';
import { Explained, Marks, RawLine } from './LogLine';

/** Largest number of lines under a cell; the sidebar lists all. */
const SHOWN = 50;

export function LogNotes(props: {
  record: IRecord;
  /** The lines to list; all lines of the record by default. */
  lines?: readonly ILogLine[];
  t: Translate;
}): ReactElement | null {
  const { record, t } = props;
  const lines = worstFirst(props.lines ?? record.logs);
  if (lines.length === 0) {
    return null;
  }
  return (
    <div role="group" className="jp-mlgpu-LogNotes" aria-label={t('logs')}>
      <ul role="list">
        {lines.slice(0, SHOWN).map((line, index) => (
          <li key={index} className="jp-mlgpu-LogNote" data-verdict={line.verdict}>
            <LogNote line={line} t={t} />
          </li>
        ))}
      </ul>
      {lines.length > SHOWN && (
        <p className="jp-mlgpu-Quiet">{t('moreNotes', { count: lines.length - SHOWN })}</p>
      )}
    </div>
  );
}

function LogNote(props: { line: ILogLine; t: Translate }): ReactElement {
  const { line, t } = props;
  return (
    <>
      <Marks line={line} t={t} />
      {line.verdict !== 'unknown' && <Explained line={line} t={t} />}
      <RawLine line={line} t={t} />
    </>
  );
}
