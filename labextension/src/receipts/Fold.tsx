/** A part that opens: nothing of it is in the page before. */

import { useState, type ReactElement, type ReactNode } from 'react';

export function Fold(props: {
  label: string;
  /** Its class in the style sheets. */
  name?: string;
  children: () => ReactNode;
}): ReactElement {
  const { label, name = 'Fold', children } = props;
  const [open, setOpen] = useState(false);
  return (
    <details
      className={`jp-mlgpu-${name}`}
      onToggle={event => {
        // Folds within folds tell of themselves.
        if (event.target === event.currentTarget) {
          setOpen(event.currentTarget.open);
        }
      }}
    >
      <summary>{label}</summary>
      {open && children()}
    </details>
  );
}
