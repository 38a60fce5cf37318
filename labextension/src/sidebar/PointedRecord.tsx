/**
 * Details of the record under the pointer or in focus that do not fit into its row: where it ran, its memory,
 * the trend of its cell, and the kernel's notes. Its place is always reserved, so that nothing moves.
 */

import { useMemo, useSyncExternalStore, type ReactElement } from 'react';

import type { CellMarks } from './cellmarks';
import { trendOf, type Runs } from '../record/cellrows';
import { factsOf } from '../record/head';
import type { Message, Translate } from '../language/i18n';
import type { IEntry } from '../kernel/state';
import { Notes } from '../receipts/Notes';
import { Trend } from './Trend';

export function PointedRecord(props: {
  entries: readonly IEntry[];
  runs: Runs;
  marks: CellMarks;
  /** The record whose cell cannot be shown, and why, after the user asked for it. */
  missingCell: { key: string; why: Message } | null;
  t: Translate;
}): ReactElement {
  const { entries, runs, marks, missingCell, t } = props;
  const key = useSyncExternalStore(marks.subscribe, () => marks.lastMarked);
  const entry = useMemo(() => entries.find(one => one.key === key), [entries, key]);
  if (entry === undefined) {
    return <div className="jp-mlgpu-PointedRecord" />;
  }
  const { record } = entry;
  const trend = trendOf(record, runs);
  return (
    <div className="jp-mlgpu-PointedRecord">
      {missingCell?.key === key && <p className="jp-mlgpu-Note">{t(missingCell.why)}</p>}
      <Notes record={record} t={t} />
      <p>{factsOf(record, t)}</p>
      {trend && <Trend trend={trend} t={t} />}
    </div>
  );
}
