/** The running cell, and the newest records as receipts, newest first, for notebooks without the sidebar. */

import { useMemo, type ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import { readOpenReceipt, type IOpenReceipt } from '../record/openreceipt';
import { readKnownRecord, type IRecord } from '../record/record';
import { count, list, object } from '../language/untrusted';
import { Receipt } from '../receipts/Receipt';
import { CellName } from '../sidebar/RunningCell';
import { LiveCell } from './LiveCell';
import { useTrait, type IModel } from './model';

/** More records than the kernel sends, which also bounds their size. */
const MANY = 100;

export function TraceView(props: { model: IModel; t: Translate }): ReactElement {
  const { model, t } = props;
  const data = useTrait(model, 'newest');
  const older = count(useTrait(model, 'older')) ?? 0;
  const ended = useTrait(model, 'ended') === true;
  const records = useMemo(() => list(data, MANY, readShown).reverse(), [data]);
  return (
    <div role="group" className="jp-mlgpu-Trace" aria-label={t('receipts')}>
      <h3>
        {t('receipts')}{' '}
        {older > 0 && (
          <span className="jp-mlgpu-Quiet">{t('newestRecords', { count: records.length })}</span>
        )}
      </h3>
      {ended ? <p>{t('widgetEnded')}</p> : <LiveCell model={model} t={t} />}
      {records.length === 0 && !ended && <p className="jp-mlgpu-Quiet">{t('noRecords')}</p>}
      {/* A tab stop, so that the keyboard can scroll it. */}
      <div className="jp-mlgpu-Trace-scroller" role="group" aria-label={t('records')} tabIndex={0}>
        <ol role="list">
          {records.map(({ record, ask }) => (
            <li key={`${record.runId}/${record.cell.sequence}`} className="jp-mlgpu-Trace-row">
              <CellName cell={record.cell} />
              <Receipt record={record} ask={ask} t={t} open={false} />
            </li>
          ))}
        </ol>
      </div>
      {older > 0 && <p className="jp-mlgpu-Quiet">{t('older', { count: older })}</p>}
    </div>
  );
}

/** Read a record with its open receipt, which the kernel sends beside it. */
function readShown(
  data: unknown
): { record: IRecord; ask: () => Promise<IOpenReceipt | null> } | null {
  const record = readKnownRecord(data);
  const receipt = readOpenReceipt(object(data)?.open);
  return record && { record, ask: () => Promise.resolve(receipt) };
}
