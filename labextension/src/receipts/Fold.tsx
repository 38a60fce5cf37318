/** A collapsible section, whose content is rendered only while it is open. */

import { useState, type ReactElement, type ReactNode } from 'react';

export function Fold(props: {
  label: string;
  /** Class name without the prefix. */
  name?: string;
  /** True if it is open at first. */
  initially?: boolean;
  children: () => ReactNode;
}): ReactElement {
  const { label, name = 'Fold', initially = false, children } = props;
  const [open, setOpen] = useState(initially);
  return (
    <details
      className={`jp-mlgpu-${name}`}
      open={open}
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
