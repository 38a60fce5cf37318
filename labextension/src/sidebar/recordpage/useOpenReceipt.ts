/** A hook for a record's open receipt, from its kernel, or from the server for saved records. */

import { useEffect, useState } from 'react';

import type { NotebookSession } from '../../kernel/notebooks';
import type { IEntry } from '../../kernel/state';
import { openReceipt } from '../../record/asking';
import type { IOpenReceipt } from '../../record/openreceipt';
import type { RecordPage } from './useRecordPage';

export type OpenReceiptState = IOpenReceipt | 'asking' | 'not known';

export function useOpenReceipt(
  session: NotebookSession,
  { record }: IEntry,
  page: RecordPage
): OpenReceiptState {
  const [saved, setSaved] = useState<OpenReceiptState>('asking');
  const live = page.state === 'answered' ? page.details.receipt : null;
  const asks = page.state !== 'asking' && live === null;
  useEffect(() => {
    let wanted = true;
    const source = asks ? session.receipt(record) : null;
    if (asks) {
      const answer = source === null ? Promise.resolve(null) : openReceipt(source.data);
      void answer.then(one => wanted && setSaved(one ?? 'not known'));
    }
    return () => {
      wanted = false;
    };
  }, [session, record, asks]);
  return live ?? saved;
}
