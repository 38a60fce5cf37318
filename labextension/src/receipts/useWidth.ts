/** The width that a part of the page has, in pixels, so that a drawing's letters keep their size. */

import { useCallback, useState } from 'react';

/** `ref` goes to the element that is measured. */
export function useWidth(
  initial: number
): [width: number, ref: (node: HTMLElement | null) => void] {
  const [width, setWidth] = useState(initial);
  const [observer] = useState(
    () =>
      new ResizeObserver(entries => {
        const measured = Math.floor(entries.at(-1)?.contentRect.width ?? 0);
        // Hidden, it has none, and keeps the width that it had.
        if (measured > 0) {
          setWidth(measured);
        }
      })
  );
  const ref = useCallback(
    (node: HTMLElement | null) => {
      observer.disconnect();
      if (node !== null) {
        observer.observe(node);
      }
    },
    [observer]
  );
  return [width, ref];
}
