/** How wide an element is, and a number that changes with JupyterLab's theme: what is drawn depends on both. */

import { useEffect, useState } from 'react';
import type { RefObject } from 'react';

export function useSize(element: RefObject<HTMLElement>): { width: number; theme: number } {
  const [width, setWidth] = useState(0);
  const [theme, setTheme] = useState(0);
  useEffect(() => {
    const { current } = element;
    if (current === null) {
      return;
    }
    const size = new ResizeObserver(() => setWidth(current.clientWidth));
    size.observe(current);
    const themes = new MutationObserver(() => setTheme(before => before + 1));
    themes.observe(document.body, { attributeFilter: ['data-jp-theme-name'] });
    return () => {
      size.disconnect();
      themes.disconnect();
    };
  }, [element]);
  return { width, theme };
}
