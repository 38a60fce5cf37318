/** As much of React's own entry to a page as is used here; JupyterLab itself brings none to the sidebar. */
declare module 'react-dom/client' {
  import type { ReactNode } from 'react';

  export function createRoot(
    container: Element,
    options: { identifierPrefix: string }
  ): {
    render(children: ReactNode): void;
    unmount(): void;
  };
}
