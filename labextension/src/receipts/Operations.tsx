/** Times per operation of a profiled cell: the devices first, then the host. */

import type { ReactElement } from 'react';

import { formatSeconds } from '../record/format';
import type { Translate } from '../language/i18n';
import { operationTables } from '../record/operations';
import type { IOperation, IOperationTable } from '../record/operations';
import type { IRecord } from '../record/record';
import { Table } from './Table';

export function Operations(props: { record: IRecord; t: Translate }): ReactElement {
  const { record, t } = props;
  return (
    <>
      {operationTables(record.ops).map((table, index) => (
        <OperationTable key={index} table={table} t={t} />
      ))}
    </>
  );
}

function OperationTable(props: { table: IOperationTable; t: Translate }): ReactElement {
  const { table, t } = props;
  const { device, profiler, rows, more } = table;
  const title =
    device === 'host' ? t('opsOnHost', { profiler }) : t('opsOnDevice', { device, profiler });
  return (
    <Table
      caption={<caption>{title}</caption>}
      heads={[t('operation'), t('calls'), t('selfTime'), t('totalTime'), t('shareOfTime')]}
    >
      {rows.map((row, index) => (
        <OperationRow key={index} row={row} />
      ))}
      {more > 0 && (
        <tr>
          <td colSpan={5} className="jp-mlgpu-Quiet">
            {t('moreOperations', { count: more })}
          </td>
        </tr>
      )}
    </Table>
  );
}

function OperationRow(props: { row: IOperation }): ReactElement {
  const { name, type, count, selfTime, totalTime, share } = props.row;
  return (
    <tr>
      <th scope="row" title={type}>
        {name}
      </th>
      <td>{count}</td>
      <td>{formatSeconds(selfTime)}</td>
      <td>{formatSeconds(totalTime)}</td>
      <td>{share === null ? '' : `${(share * 100).toFixed(1)} %`}</td>
    </tr>
  );
}
