/** State that outlives its view, for example while the sidebar is hidden. */

import { Signal } from '@lumino/signaling';
import { useCallback, useState } from 'react';

import { useSignal } from './useSignal';

/** Like `useState`, but the value belongs to `owner` and is still there when the view comes back. */
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

/** Set a value of `useOwnedState`, also while its view is not in the page. */
export function keep(owner: object, name: string, value: unknown): void {
  const values = states.get(owner) ?? new Map<string, unknown>();
  states.set(owner, values.set(name, value));
  changed.emit();
}

const states = new WeakMap<object, Map<string, unknown>>();
const changed = new Signal<object, void>(states);
