/** The button that starts tracing, with what prevents it, and the tracing mark. */

import { useLayoutEffect, useRef, useState, type ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import { whyOf, type Sentence } from '../language/sentence';
import { INSTALL_LINE } from '../kernel/loading';
import type { NotebookSession } from '../kernel/notebooks';
import type { IState } from '../kernel/state';
import { problemInWords } from '../kernel/summary';
import { LineToCopy } from '../receipts/LineToCopy';
import { useSignal } from '../receipts/useSignal';

export function StartTracing(props: {
  session: NotebookSession;
  state: IState;
  /** The text above the button. */
  about: string;
  t: Translate;
}): ReactElement {
  const { session, state, about, t } = props;
  const { kernel, starting } = state;
  const [refusal, setRefusal] = useState<Sentence>('');
  const section = useFocusKept();
  const loading = starting === 'loading';
  const problem = loading ? null : starting;
  const start = (): void => {
    setRefusal('');
    session.start().catch((error: unknown) => {
      setRefusal(whyOf(error));
    });
  };
  return (
    <section ref={section} className="jp-mlgpu-Start" aria-label={t('startTracing')}>
      <p>{about}</p>
      <button
        type="button"
        className="jp-mod-styled jp-mod-accept"
        aria-disabled={loading}
        // A click keeps the keyboard focus, as on JupyterLab's own buttons.
        onMouseDown={event => event.preventDefault()}
        onClick={loading ? undefined : start}
      >
        {t(loading ? 'startingTracing' : 'startTracing')}
      </button>
      {kernel === 'absent' && <TraceAlways session={session} t={t} />}
      <div role="status">
        {loading && state.executing && <p>{t('startsAfterCell')}</p>}
        {problem !== null && <p>{problemInWords(problem, t)}</p>}
        {refusal !== '' && <p>{t.say(refusal)}</p>}
      </div>
      {problem?.missing === true && <LineToCopy text={INSTALL_LINE} t={t} />}
    </section>
  );
}

/** A switch for the notebook's tracing mark. */
export function TraceAlways(props: { session: NotebookSession; t: Translate }): ReactElement {
  const { session, t } = props;
  const marked = useSignal(session.traceMark.changed, () => session.traceMark.isSet);
  return (
    <label className="jp-mlgpu-Switch" title={t('traceAlways_about')}>
      <input
        type="checkbox"
        checked={marked}
        onChange={event => session.traceAlways(event.target.checked)}
      />
      {t('traceAlways')}
    </label>
  );
}

/** Return a ref that keeps the focus in the sidebar when its element disappears. */
function useFocusKept(): React.RefObject<HTMLElement> {
  const ref = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const node = ref.current;
    const panel = node?.closest<HTMLElement>('.jp-mlgpu-Panel');
    return () => {
      if (node?.contains(document.activeElement)) {
        panel?.focus();
      }
    };
  }, []);
  return ref;
}
