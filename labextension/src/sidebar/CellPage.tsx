/** The page of one record. Its code is loaded when the first page is opened. */

import { useEffect, useState, type ComponentType, type ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import type { NotebookSession } from '../kernel/notebooks';
import type { IEntry } from '../kernel/state';
import { Button } from '../receipts/controls';

export interface ICellPage {
  entry: IEntry;
  session: NotebookSession;
  onBack: () => void;
  onGo: (entry: IEntry) => void;
  /** Show its lines in the log. */
  onLogs: (entry: IEntry) => void;
  t: Translate;
}

export function CellPage(props: ICellPage): ReactElement {
  const { onBack, t } = props;
  const [Loaded, setLoaded] = useState<ComponentType<ICellPage> | null>(() => loaded);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    let here = true;
    load().then(
      page => here && setLoaded(() => page),
      () => here && setFailed(true)
    );
    return () => {
      here = false;
    };
  }, []);
  if (Loaded !== null) {
    return <Loaded {...props} />;
  }
  return (
    <section className="jp-mlgpu-Page" aria-label={t('details')}>
      <Button label={t('backToCells')} onClick={onBack} />
      <p className="jp-mlgpu-Quiet" role="status">
        {t(failed ? 'pageFailed' : 'pageLoading')}
      </p>
    </section>
  );
}

let loaded: ComponentType<ICellPage> | null = null;

async function load(): Promise<ComponentType<ICellPage>> {
  const { Page } = await import(/* webpackChunkName: "cell-page" */ './recordpage/Page');
  loaded = Page;
  return Page;
}
