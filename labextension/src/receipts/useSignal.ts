/** What changes with a signal, for views: they are drawn again when it does. */

import type { ISignal } from '@lumino/signaling';
import { useCallback, useSyncExternalStore } from 'react';

/** `get` answers the same value until the signal tells of another one. */
export function useSignal<T>(signal: ISignal<unknown, unknown>, get: () => T): T {
  const subscribe = useCallback(
    (onChange: () => void) => {
      signal.connect(onChange);
      return () => void signal.disconnect(onChange);
    },
    [signal]
  );
  return useSyncExternalStore(subscribe, get);
}
