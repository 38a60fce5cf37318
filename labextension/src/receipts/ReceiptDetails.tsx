/** The content of an opened receipt. If it cannot be had, the plain text and the messages in the notebook. */

import { useEffect, useState, type ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import type { IOpenReceipt } from '../record/openreceipt';
import type { IRecord } from '../record/record';
import { LogNotes } from './LogNotes';
import { OpenReceipt } from './OpenReceipt';
import type { ILineFinder } from './providers';

export function ReceiptDetails(props: {
  record: IRecord;
  /** Requests the open receipt; resolves with null if nobody can make it. */
  ask: () => Promise<IOpenReceipt | null>;
  /** The receipt as plain text, from the notebook. */
  plain: string;
  finder: ILineFinder | null;
  onPage: (() => void) | null;
  t: Translate;
}): ReactElement {
  const { record, ask, plain, finder, onPage, t } = props;
  const [receipt, setReceipt] = useState<IOpenReceipt | null | 'asking'>('asking');
  useEffect(() => {
    let wanted = true;
    void ask().then(answer => wanted && setReceipt(answer));
    return () => {
      wanted = false;
    };
  }, [ask]);
  if (receipt === 'asking') {
    return (
      <p className="jp-mlgpu-Quiet jp-mlgpu-Late" role="status">
        {t('pageLoading')}
      </p>
    );
  }
  if (receipt === null) {
    return (
      <>
        <p className="jp-mlgpu-Quiet">{t('savedReceipt')}</p>
        {plain && <pre className="jp-mlgpu-Raw">{plain}</pre>}
        <LogNotes record={record} t={t} />
      </>
    );
  }
  return <OpenReceipt {...{ record, receipt, finder, onPage, t }} />;
}
