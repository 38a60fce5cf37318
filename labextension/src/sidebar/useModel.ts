/** The state of a notebook's kernel, for views: they are drawn again when it changes. */

import { useCallback, useSyncExternalStore } from 'react';

import type { KernelModel } from '../kernel/model';
import type { IState } from '../kernel/state';
import { coalesced } from '../record/slices';

export function useModel(model: KernelModel): IState {
  const subscribe = useCallback(
    (onChange: () => void) => {
      // Drawn in a task of its own, and once for all that came until then.
      const changed = coalesced(onChange);
      model.stateChanged.connect(changed);
      return () => void model.stateChanged.disconnect(changed);
    },
    [model]
  );
  return useSyncExternalStore(subscribe, () => model.state);
}
