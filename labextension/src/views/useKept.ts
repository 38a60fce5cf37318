/** State of a view that outlives it: while the sidebar is hidden, nothing of it is in the page. */

import { useCallback, useState } from 'react';

/** Like `useState`; the value belongs to `owner`, and is found again when the view comes back. */
export function useKept<T>(
  owner: object,
  name: string,
  initial: T
): [value: T, set: (value: T) => void] {
  const [value, setValue] = useState<T>(
    () => (kept.get(owner)?.get(name) as T | undefined) ?? initial
  );
  const set = useCallback(
    (next: T): void => {
      const values = kept.get(owner) ?? new Map<string, unknown>();
      kept.set(owner, values.set(name, next));
      setValue(next);
    },
    [owner, name]
  );
  return [value, set];
}

const kept = new WeakMap<object, Map<string, unknown>>();
