/** One line of the log, explained or as it was printed. */

import type { ReactElement } from 'react';

import { cellNumber } from '../record/cell';
import { dotted } from '../record/format';
import type { Message, Translate } from '../language/i18n';
import type { ILogRow } from '../record/logrows';
import type { ILogLine } from '../record/logs';
import { Explained, Marks, RawLine } from '../receipts/LogLine';
import { caret } from '../receipts/icons';

export function LogRow(props: {
  row: ILogRow;
  raw: boolean;
  open: boolean;
  /** Why its cell cannot be shown, after the user asked for it. */
  missingCell: Message | null;
  /** True if Tab stops here; arrow keys reach the other rows. */
  tabStop: boolean;
  onGo: (row: ILogRow) => void;
  onToggle: (key: string) => void;
  t: Translate;
}): ReactElement {
  const { row, raw, open, missingCell, tabStop, onGo, onToggle, t } = props;
  const { line } = row;
  const tabIndex = tabStop ? 0 : -1;
  const known = line.verdict !== 'unknown';
  return (
    <>
      <div className="jp-mlgpu-Row-head">
        <HeadButton row={row} tabIndex={tabIndex} onGo={onGo} t={t} />
        {(known || !raw) && (
          <button
            type="button"
            className={`jp-mlgpu-Toggle ${caret(open)}`}
            aria-expanded={open}
            aria-label={t('details')}
            title={t(open ? 'hideDetails' : 'showDetails')}
            tabIndex={tabIndex}
            onClick={() => onToggle(row.key)}
          />
        )}
      </div>
      {known && (!raw || open) && <Explained line={line} t={t} />}
      <div className="jp-mlgpu-LogRow-raw" data-open={open || raw}>
        {(raw || open || !known) && <RawLine line={line} t={t} />}
      </div>
      {open && <p className="jp-mlgpu-Facts">{originOf(line)}</p>}
      {missingCell !== null && <p className="jp-mlgpu-Note">{t(missingCell)}</p>}
    </>
  );
}

/** The cell's number and the line's marks, as a button that leads to the cell. */
function HeadButton(props: {
  row: ILogRow;
  tabIndex: number;
  onGo: (row: ILogRow) => void;
  t: Translate;
}): ReactElement {
  const { row, tabIndex, onGo, t } = props;
  const { cell, line, live } = row;
  return (
    <button
      type="button"
      className="jp-mlgpu-Go"
      title={cell ? `${t('goToCell')}: ${cell.name}` : undefined}
      // Not `disabled`, because arrow keys must be able to focus it.
      aria-disabled={cell === null}
      tabIndex={tabIndex}
      onClick={() => cell && onGo(row)}
    >
      <span className="jp-mlgpu-Count">
        {cell ? (live ? '[*]' : cellNumber(cell)) : t('noCell')}
      </span>
      <Marks line={line} t={t} />
    </button>
  );
}

/** Return the stream, the time and the message id of a line. */
function originOf({ stream, time, id }: ILogLine): string {
  const at = new Date(time ?? NaN);
  return dotted(stream, !Number.isNaN(at.getTime()) && at.toLocaleTimeString(), id);
}
