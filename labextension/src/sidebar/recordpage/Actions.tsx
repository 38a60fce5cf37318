/** Buttons that copy and save a record. */

import { useState, type ReactElement } from 'react';

import type { Translate } from '../../language/i18n';
import type { NotebookSession } from '../../kernel/notebooks';
import type { IOpenReceipt } from '../../record/openreceipt';
import { fileName, receiptText } from '../../record/receipttext';
import type { IEntry } from '../../kernel/state';
import { Button } from '../../receipts/controls';
import { saveFile } from './savefile';

export function Actions(props: {
  entry: IEntry;
  session: NotebookSession;
  /** The record's open receipt; null if it is not known. */
  openReceipt: IOpenReceipt | null;
  t: Translate;
}): ReactElement {
  const { entry, session, openReceipt, t } = props;
  const { record } = entry;
  const [status, setStatus] = useState('');

  const copy = (text: string): void => {
    navigator.clipboard.writeText(text).then(
      () => setStatus(t('copied')),
      () => setStatus(t('copyFailed'))
    );
  };
  const saveRecord = async (): Promise<void> => {
    const whole = await wholeRecord(entry, session);
    if (whole === null) {
      setStatus(t('saveFailed', { why: t('recordGone') }));
    } else {
      const name = fileName(record, '.jsonl');
      saveFile(name, `${whole}\n`);
      setStatus(t('savedAs', { name }));
    }
  };

  return (
    <div className="jp-mlgpu-Page-actions">
      {openReceipt !== null && (
        <Button
          variant="Chip"
          label={t('copyRecord')}
          onClick={() => copy(receiptText(record, openReceipt, t))}
        />
      )}
      <Button variant="Chip" label={t('saveRecord')} onClick={() => void saveRecord()} />
      <p role="status" className="jp-mlgpu-Quiet">
        {status}
      </p>
    </div>
  );
}

/** Return the record as one line of JSON, from the kernel or else from its receipt. */
async function wholeRecord(
  { record, saved }: IEntry,
  session: NotebookSession
): Promise<string | null> {
  const { runId, cell } = record;
  if (!saved) {
    try {
      const answer = await session.request('inside_record', {
        run: runId,
        sequence: cell.sequence
      });
      if (answer.record !== undefined) {
        return JSON.stringify(answer.record);
      }
    } catch {
      // The notebook may have it.
    }
  }
  const receipt = session.receipt(record);
  return receipt === null ? null : JSON.stringify(receipt.data);
}
