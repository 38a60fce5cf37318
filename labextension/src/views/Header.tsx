/** The notebook's name, and why its kernel shows nothing where it does not. */

import { useCallback, useSyncExternalStore } from 'react';
import type { ReactElement } from 'react';

import type { Translate } from '../i18n';
import type { NotebookSession } from '../notebooks';
import type { IState } from '../state';
import { KernelNotice } from './KernelNotice';

export function Header(props: {
  session: NotebookSession;
  state: IState;
  t: Translate;
}): ReactElement {
  const { session, state, t } = props;
  const name = useName(session);
  return (
    <header className="jp-mlgpu-Header">
      <h2 className="jp-mlgpu-Notebook" title={name}>
        {name}
      </h2>
      {state.kernel !== 'live' && <KernelNotice state={state} onAsk={() => session.ask()} t={t} />}
    </header>
  );
}

/** A notebook may be given another name while it is open. */
function useName(session: NotebookSession): string {
  const subscribe = useCallback(
    (onChange: () => void) => {
      session.renamed.connect(onChange);
      return () => void session.renamed.disconnect(onChange);
    },
    [session]
  );
  return useSyncExternalStore(subscribe, () => session.name);
}
