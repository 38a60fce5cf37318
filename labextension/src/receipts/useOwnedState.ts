/** State of a view that outlives it: while the sidebar is hidden, nothing of it is in the page. */

import { Signal } from '@lumino/signaling';
import { useCallback, useState } from 'react';

import { useSignal } from './useSignal';

/** Like `useState`; the value belongs to `owner`, and is found again when the view comes back. */
export function useOwnedState<T>(
  owner: object,
  name: string,
  initial: T
): [value: T, set: (value: T) => void] {
  const [first] = useState(initial);
  const value = useSignal(changed, () => (states.get(owner)?.get(name) as T | undefined) ?? first);
  const set = useCallback((next: T): void => keep(owner, name, next), [owner, name]);
  return [value, set];
}

/** Set what `useOwnedState` gives in a view, in one that is not in the page too. */
export function keep(owner: object, name: string, value: unknown): void {
  const values = states.get(owner) ?? new Map<string, unknown>();
  states.set(owner, values.set(name, value));
  changed.emit();
}

const states = new WeakMap<object, Map<string, unknown>>();
const changed = new Signal<object, void>(states);
