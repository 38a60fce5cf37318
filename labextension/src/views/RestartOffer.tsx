/** A restart that would bring the device: the button that stands under cells, for the notebook's active cell. */

import { useReducer, useEffect, useState } from 'react';
import type { ReactElement } from 'react';

import type { Translate } from '../i18n';
import type { NotebookSession } from '../notebooks';
import type { IRestartHint } from '../restart';
import { door } from '../restartdoor';
import type { IFailure } from '../restartdoor';
import { RestartNotice } from './RestartNotice';

export function RestartOffer(props: {
  hint: IRestartHint;
  session: NotebookSession;
  t: Translate;
}): ReactElement {
  const { hint, session, t } = props;
  const [progress, setProgress] = useState<'restarting' | IFailure | null>(null);
  const [, look] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    door.changed.connect(look);
    return () => void door.changed.disconnect(look);
  }, []);
  const { restarter } = door;
  const { activeNode } = session;
  const restart = async (): Promise<void> => {
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
      obstacle={activeNode === null ? 'noActiveCell' : (restarter?.obstacle(activeNode) ?? null)}
      progress={progress}
      onRestart={() => void restart()}
      t={t}
    />
  );
}
