/** Times per operation of a profiled cell, for each device and the host, with sorting and search. */

import { useMemo, useState, type ReactElement } from 'react';

import { formatBytes, formatSeconds } from '../../record/format';
import type { Message, Translate } from '../../language/i18n';
import { filledColumns, operationGroups, operationsNamed } from '../../record/operations';
import type { IOperation, IOperationGroup, OperationColumn } from '../../record/operations';
import type { IRecord } from '../../record/record';
import { inOrder, sortedBy, type ISort } from '../../record/sorting';
import { WindowedTable } from './WindowedTable';
import { Search } from '../../receipts/controls';

const HEADS: Record<OperationColumn, Message> = {
  name: 'operation',
  type: 'opsType',
  count: 'calls',
  selfTime: 'selfTime',
  totalTime: 'totalTime',
  share: 'shareOfTime',
  bytes: 'opsBytes',
  flops: 'opsFlops'
};

export function OperationsSection(props: { record: IRecord; t: Translate }): ReactElement {
  const { record, t } = props;
  const [words, setWords] = useState('');
  const groups = useMemo(() => operationGroups(record.ops), [record.ops]);
  return (
    <>
      <p className="jp-mlgpu-Quiet">{t('opsProfiled')}</p>
      <Search label={t('opsFilter')} value={words} onChange={setWords} />
      {groups.map((group, index) => (
        <Group key={index} group={group} words={words} t={t} />
      ))}
    </>
  );
}

function Group(props: { group: IOperationGroup; words: string; t: Translate }): ReactElement {
  const { group, words, t } = props;
  const { device, rows } = group;
  const profiler = t.say(group.profiler);
  const [sort, setSort] = useState<ISort<OperationColumn>>({
    column: 'selfTime',
    descending: true
  });
  const found = useMemo(() => inOrder(operationsNamed(rows, words), sort), [rows, words, sort]);
  const columns = useMemo(
    () =>
      filledColumns(rows).map(column => ({
        id: column,
        label: t(HEADS[column]),
        figures: !isText(column)
      })),
    [rows, t]
  );
  const title =
    device === 'host' ? t('opsOnHost', { profiler }) : t('opsOnDevice', { device, profiler });
  const count = { shown: found.length, count: rows.length };
  return (
    <>
      <h4>
        {title}{' '}
        <span className="jp-mlgpu-Quiet" role="status">
          {t('opsShown', count)}
        </span>
      </h4>
      {found.length > 0 ? (
        <WindowedTable
          label={title}
          columns={columns}
          count={found.length}
          cell={(row, column) => figure(found[row], column)}
          title={row => [found[row]?.name, found[row]?.shapes].filter(Boolean).join(' ')}
          sort={sort}
          onSort={column => setSort(sortedBy(sort, column, !isText(column)))}
        />
      ) : (
        <p className="jp-mlgpu-Quiet">{t('opsNone')}</p>
      )}
    </>
  );
}

function isText(column: OperationColumn): boolean {
  return column === 'name' || column === 'type';
}

function figure(row: IOperation | undefined, column: OperationColumn): string {
  const value = row?.[column] ?? null;
  if (value === null || typeof value === 'string') {
    return value ?? '';
  }
  switch (column) {
    case 'selfTime':
    case 'totalTime':
      return formatSeconds(value);
    case 'share':
      return `${(value * 100).toFixed(1)} %`;
    case 'bytes':
      return formatBytes(value);
    default:
      return column === 'flops' ? value.toPrecision(3) : value.toLocaleString();
  }
}
