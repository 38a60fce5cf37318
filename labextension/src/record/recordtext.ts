/** A record as plain text, for the clipboard; and the names of files that hold it. */

import { cellNumber } from './cellnumber';
import { dotted, formatSeconds, formatValue } from './format';
import { figuresOf } from './head';
import type { Translate } from '../language/i18n';
import { operationTables } from './operations';
import { answer, lineName, lineShare, withInterval } from './limits';
import type { IReading, IRecord } from './record';
import { quantityName, scopeName, shown, versionsInWords, whyMissing } from './words';

/** The cell, its line, every reading with where it comes from, its operations and its notes. */
export function recordText(record: IRecord, t: Translate): string {
  const { cell, head, outcome, limit, lines, notes, readings, versions } = record;
  return [
    `${cellNumber(cell)} ${cell.name}`,
    dotted(t.say(head.label) || t(outcome), ...figuresOf(record, t)),
    ...(limit === null ? [] : [answer(limit, t)]),
    ...(limit?.next ? [t.say(limit.next)] : []),
    ...lines.map(one => dotted(lineName(one, t), lineShare(one, t), one.calls)),
    ...notes.map(t.say),
    '',
    ...readings.map(reading => readingText(reading, record, t)),
    ...operationTables(record.ops).flatMap(({ device, profiler, rows, more }) => [
      '',
      device === 'host' ? t('opsOnHost', { profiler }) : t('opsOnDevice', { device, profiler }),
      ...rows.map(
        row => `${row.name}\t${row.count}\t${formatSeconds(row.selfTime)}\t${percent(row.share)}`
      ),
      ...(more > 0 ? [t('moreOperations', { count: more })] : [])
    ]),
    '',
    [record.startedAt, versionsInWords(versions)].filter(Boolean).join(', ')
  ].join('\n');
}

function readingText(reading: IReading, record: IRecord, t: Translate): string {
  const said =
    reading.value === null
      ? whyMissing(reading, t)
      : `${withUncertainty(reading, record, t)} (${origin(reading, t)})`;
  return `${quantityName(reading.quantity, t)}: ${said}`;
}

/** A reading's value with its unit, and how uncertain it is where that is stated. */
export function withUncertainty(reading: IReading, record: IRecord, t: Translate): string {
  const { uncertainty, unit } = reading;
  const said = withInterval(reading, t) || shown(reading, record, t);
  return uncertainty === null ? said : `${said} ± ${formatValue(uncertainty, unit)}`;
}

/** What a reading covers, where it comes from, and on how many measurements it rests. */
export function origin(reading: IReading, t: Translate): string {
  const { scope, source, samples, device, detail } = reading;
  const sampled = samples !== null && samples > 1 && `${t('samples')}: ${samples}`;
  // What measured it, in words, names the device as well.
  const of = detail === null && device !== null ? device : scopeName(scope, t);
  return dotted(of, t.say(source), sampled);
}

export function percent(share: number | null): string {
  return share === null ? '' : `${(share * 100).toFixed(1)} %`;
}

/** Characters that a file's name cannot have on some system. */
const UNFIT = /[\\/:*?"<>|\p{Cc}]+/gu;

/** A file's name for a record: the notebook's, the cell's number, and an ending. */
export function fileName(record: IRecord, ending: string): string {
  const notebook = (record.notebook ?? 'notebook').replace(/\.ipynb$/, '').replace(UNFIT, '_');
  const number = cellNumber(record.cell).replace('#', 'record-').replace('[', 'cell-');
  return `${notebook.slice(0, 80)}-${number.replace(']', '')}${ending}`;
}
