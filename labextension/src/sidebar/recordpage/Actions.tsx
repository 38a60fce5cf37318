/** What can be done with a record: copied, saved, and its timeline handed to Perfetto. */

import { useState } from 'react';
import type { ReactElement } from 'react';

import type { Translate } from '../../language/i18n';
import type { NotebookSession } from '../../kernel/notebooks';
import { PERFETTO, handOver } from '../../lab/perfetto';
import type { IOpenReceipt } from '../../record/openreceipt';
import { fileName, receiptText } from '../../record/receipttext';
import { whyOf } from '../../language/sentence';
import type { IEntry } from '../../kernel/state';
import { Button } from '../../receipts/controls';

/** Milliseconds after which a file has been handed to the browser's downloads. */
const HANDED = 60_000;

export function Actions(props: {
  entry: IEntry;
  session: NotebookSession;
  /** What the record's open receipt says; null: not known. */
  shown: IOpenReceipt | null;
  /** Whether the kernel has the cell's timeline. */
  traced: boolean;
  t: Translate;
}): ReactElement {
  const { entry, session, shown, traced, t } = props;
  const { record } = entry;
  const [said, setSaid] = useState('');
  const key = { run: record.runId, sequence: record.cell.sequence };

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
      setSaid(t('savedAs', { name: save(fileName(record, '.jsonl'), `${whole}\n`) }));
    }
  };
  const trace = async (): Promise<string> => {
    const answer = await session.tell('inside_trace', key);
    return typeof answer.trace === 'string' ? answer.trace : '';
  };
  const saveTrace = async (): Promise<void> => {
    try {
      setSaid(t('savedAs', { name: save(fileName(record, '-timeline.json'), await trace()) }));
    } catch (error) {
      setSaid(t('saveFailed', { why: t.say(whyOf(error)) }));
    }
  };
  const openInPerfetto = async (): Promise<void> => {
    // In the click itself, or the browser would not allow it.
    const page = window.open(PERFETTO);
    if (page === null) {
      setSaid(t('perfettoBlocked'));
      return;
    }
    setSaid(t('perfettoOpening'));
    try {
      const title = record.cell.name || fileName(record, '');
      const handed = { title, fileName: fileName(record, '-timeline.json'), text: await trace() };
      const taken = await handOver(page, handed, window);
      setSaid(t(taken ? 'perfettoTaken' : 'perfettoSilent'));
    } catch (error) {
      page.close();
      setSaid(t('perfettoFailed', { why: t.say(whyOf(error)) }));
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
      {traced && (
        <>
          <Button look="Chip" label={t('saveTrace')} onClick={() => void saveTrace()} />
          <Button look="Chip" label={t('openInPerfetto')} onClick={() => void openInPerfetto()} />
          <p className="jp-mlgpu-Quiet">{t('perfettoNote')}</p>
        </>
      )}
      <p role="status" className="jp-mlgpu-Quiet">
        {said}
      </p>
    </div>
  );
}

/** The record as the kernel saves it; as its receipt has it, where the kernel has none. In one line of JSON. */
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

/** Give a file to the browser's downloads; answers its name. */
function save(name: string, text: string): string {
  const address = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), HANDED);
  return name;
}
