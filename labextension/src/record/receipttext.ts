/** An open receipt as plain text, for the clipboard; and the names of files that hold a record. */

import type { Translate } from '../language/i18n';
import { plain } from '../language/prose';
import type { Sentence } from '../language/sentence';
import type { ITable } from '../page/pagetypes';
import { cellNumber } from './cell';
import { dotted } from './format';
import { figuresOf } from './head';
import type { IOpenReceipt } from './openreceipt';
import type { IRecord } from './record';

/** The cell, its line, and all that its open receipt says, with a row of each table in a line. */
export function receiptText(record: IRecord, shown: IOpenReceipt, t: Translate): string {
  const { cell, head, outcome, notes } = record;
  const say = (one: Sentence): string => plain(t.say(one));
  const rows = (one: ITable | null): string[] =>
    one === null
      ? []
      : [one.caption, ...one.rows].map(row =>
          Array.isArray(row) ? row.map(say).join('\t') : say(row)
        );
  return [
    `${cellNumber(cell)} ${cell.name}`,
    dotted(t.say(head.label) || t(outcome), ...figuresOf(record, t)),
    ...[...notes, ...shown.leftOut, shown.answer, shown.advice].map(say),
    ...[shown.evidence, shown.lines].flatMap(rows),
    ...shown.places.map(say),
    ...[...shown.work, shown.underRoof].flatMap(rows),
    ...[shown.profiled].map(say),
    ...[...shown.operations, shown.measured, shown.facts].flatMap(rows),
    ...shown.missing.map(say),
    dotted(record.startedAt, t.say(shown.versions))
  ]
    .filter(Boolean)
    .join('\n');
}

/** Characters that a file's name cannot have on some system. */
const UNFIT = /[\\/:*?"<>|\p{Cc}]+/gu;

/** A file's name for a record: the notebook's, the cell's number, and an ending. */
export function fileName(record: IRecord, ending: string): string {
  const notebook = (record.notebook ?? 'notebook').replace(/\.ipynb$/, '').replace(UNFIT, '_');
  const number = cellNumber(record.cell).replace('#', 'record-').replace('[', 'cell-');
  return `${notebook.slice(0, 80)}-${number.replace(']', '')}${ending}`;
}
