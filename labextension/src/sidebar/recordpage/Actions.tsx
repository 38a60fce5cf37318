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
  shown: IOpenReceipt | null;
  t: Translate;
}): ReactElement {
  const { entry, session, shown, t } = props;
  const { record } = entry;
  const [said, setSaid] = useState('');

  const copy = (text: string): void => {
    navigator.clipboard.writeText(text).then(
      () => setSaid(t('copied')),
      () => setSaid(t('copyFailed'))
    );
  };
  const saveRecord = async (): Promise<void> => {
    const whole = await wholeRecord(entry, session);
    if (whole === null) {
      setSaid(t('saveFailed', { why: t('recordGone') }));
    } else {
      const name = fileName(record, '.jsonl');
      saveFile(name, `${whole}\n`);
      setSaid(t('savedAs', { name }));
    }
  };

  return (
    <div className="jp-mlgpu-Page-actions">
      {shown !== null && (
        <Button
          look="Chip"
          label={t('copyRecord')}
          onClick={() => copy(receiptText(record, shown, t))}
        />
      )}
      <Button look="Chip" label={t('saveRecord')} onClick={() => void saveRecord()} />
      <p role="status" className="jp-mlgpu-Quiet">
        {said}
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
      const answer = await session.tell('inside_record', { run: runId, sequence: cell.sequence });
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
