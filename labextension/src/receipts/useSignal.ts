/** A hook that redraws a view when a Lumino signal is emitted. */

import type { ISignal } from '@lumino/signaling';
import { useCallback, useSyncExternalStore } from 'react';

/** Return `get()`, which must return the same value until the signal is emitted. */
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
