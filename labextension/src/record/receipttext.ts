/** An open receipt as plain text for the clipboard, and names of files that hold a record. */

import type { Translate } from '../language/i18n';
import { plain } from '../language/prose';
import type { Sentence } from '../language/sentence';
import type { ITable } from '../page/pagetypes';
import { cellNumber } from './cell';
import { dotted } from './format';
import { figuresOf } from './head';
import type { IOpenReceipt } from './openreceipt';
import type { IRecord } from './record';

/** Return the cell, its line, and everything in its open receipt, with a table row per line. */
export function receiptText(record: IRecord, receipt: IOpenReceipt, t: Translate): string {
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
    ...[...notes, receipt.answer, receipt.advice].map(say),
    ...rows(receipt.lines),
    ...rows(receipt.underRoof),
    ...[receipt.profiled].map(say),
    ...receipt.operations.flatMap(rows),
    say(receipt.doubt),
    ...rows(receipt.evidence),
    ...receipt.places.map(say),
    ...[...receipt.work, receipt.measured, receipt.facts].flatMap(rows),
    ...[...receipt.leftOut, ...receipt.missing].map(say),
    dotted(record.startedAt, t.say(receipt.versions))
  ]
    .filter(Boolean)
    .join('\n');
}

/** Characters that some file system does not allow in names. */
const UNFIT = /[\\/:*?"<>|\p{Cc}]+/gu;

/** Return a file name made of the notebook's name, the cell's number, and an ending. */
export function fileName(record: IRecord, ending: string): string {
  const notebook = (record.notebook ?? 'notebook').replace(/\.ipynb$/, '').replace(UNFIT, '_');
  const number = cellNumber(record.cell).replace('#', 'record-').replace('[', 'cell-');
  return `${notebook.slice(0, 80)}-${number.replace(']', '')}${ending}`;
}
