/** Hooks that redraw a view when the settings change. */

import { useEffect, useRef, useState } from 'react';

import { preferences, type IPreferences } from '../sidebar/preferences';
import { useSignal } from './useSignal';

export function usePreferences(): IPreferences {
  return useSignal(preferences.changed, () => preferences.current);
}

/** Return the value, updated at most once every `seconds`. */
export function usePaced<T>(value: T, seconds: number): T {
  const [paced, setPaced] = useState(value);
  const last = useRef(-Infinity);
  useEffect(() => {
    if (seconds === 0) {
      return undefined;
    }
    const wait = last.current + seconds * 1000 - performance.now();
    const timer = setTimeout(
      () => {
        last.current = performance.now();
        setPaced(value);
      },
      Math.max(0, wait)
    );
    return () => clearTimeout(timer);
  }, [value, seconds]);
  return seconds === 0 ? value : paced;
}
