/** What is to be done, as a function that stays the same: what gets it is not drawn again for another one. */

import { useCallback, useLayoutEffect, useRef } from 'react';

/** A function that does what the one given last does. */
export function useStable<A extends unknown[]>(
  act: (...values: A) => void
): (...values: A) => void {
  const newest = useRef(act);
  useLayoutEffect(() => {
    newest.current = act;
  });
  return useCallback((...values: A) => newest.current(...values), []);
}
