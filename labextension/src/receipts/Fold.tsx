/** A collapsible section, whose content is rendered only while it is open. */

import { useState, type ReactElement, type ReactNode } from 'react';

export function Fold(props: {
  label: string;
  /** Class name without the prefix. */
  name?: string;
  children: () => ReactNode;
}): ReactElement {
  const { label, name = 'Fold', children } = props;
  const [open, setOpen] = useState(false);
  return (
    <details
      className={`jp-mlgpu-${name}`}
      onToggle={event => {
        // The toggle events of nested sections arrive here too.
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
