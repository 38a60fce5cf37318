/** The offer of a restart in the sidebar, which runs cells up to the notebook's active cell. */

import { useState, type ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import type { NotebookSession } from '../kernel/notebooks';
import type { IRestartHint } from '../kernel/restart';
import { restarterProvider, type IFailure } from './providers';
import { RestartNotice } from './RestartNotice';
import { useSignal } from './useSignal';

export function RestartOffer(props: {
  hint: IRestartHint;
  session: NotebookSession;
  t: Translate;
}): ReactElement {
  const { hint, session, t } = props;
  const [progress, setProgress] = useState<'restarting' | IFailure | null>(null);
  const obstacle = useSignal(restarterProvider.changed, () => {
    const { activeNode } = session;
    return activeNode === null
      ? 'noActiveCell'
      : (restarterProvider.restarter?.obstacle(activeNode) ?? null);
  });
  const restart = async (): Promise<void> => {
    const { restarter } = restarterProvider;
    const node = session.activeNode;
    if (node !== null && restarter !== null) {
      const begin = (): void => setProgress('restarting');
      setProgress(await restarter.restart(node, hint.verbose, begin));
    }
  };
  return (
    <RestartNotice
      hint={hint}
      label={t('restartActive')}
      obstacle={obstacle}
      progress={progress}
      onRestart={() => void restart()}
      t={t}
    />
  );
}
