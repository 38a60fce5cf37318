/** The part of react-dom/client that is used here; its types are not installed. */
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
