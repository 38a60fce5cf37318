/** A hook for the state of a notebook's kernel. */

import { useCallback, useSyncExternalStore } from 'react';

import type { KernelModel } from '../kernel/model';
import type { IState } from '../kernel/state';
import { coalesced } from '../record/slices';

export function useModel(model: KernelModel): IState {
  const subscribe = useCallback(
    (onChange: () => void) => {
      // One redraw in a new task for all changes until then.
      const changed = coalesced(onChange);
      model.stateChanged.connect(changed);
      return () => void model.stateChanged.disconnect(changed);
    },
    [model]
  );
  return useSyncExternalStore(subscribe, () => model.state);
}
