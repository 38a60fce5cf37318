/**
 * What a line of the list has no room for, of the record that is pointed at or in focus: where it ran, its memory,
 * how the runs of its cell went, what the kernel says of it. Its place is there always, so that nothing moves.
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
  /** The record whose cell cannot be shown, and why, when the user asked for it. */
  lost: { key: string; why: Message } | null;
  t: Translate;
}): ReactElement {
  const { entries, runs, marks, lost, t } = props;
  const key = useSyncExternalStore(marks.subscribe, () => marks.told);
  const entry = useMemo(() => entries.find(one => one.key === key), [entries, key]);
  if (entry === undefined) {
    return <div className="jp-mlgpu-PointedRecord" />;
  }
  const { record } = entry;
  const trend = trendOf(record, runs);
  return (
    <div className="jp-mlgpu-PointedRecord">
      {lost?.key === key && <p className="jp-mlgpu-Note">{t(lost.why)}</p>}
      <Notes record={record} t={t} />
      <p>{factsOf(record, t)}</p>
      {trend && <Trend trend={trend} t={t} />}
    </div>
  );
}
