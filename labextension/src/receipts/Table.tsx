/** A table with a name, heads of its columns, and rows. */

import type { ReactElement, ReactNode } from 'react';

export function Table(props: {
  label?: string;
  caption?: ReactElement | undefined;
  heads: readonly string[];
  children: ReactNode;
}): ReactElement {
  const { label, caption, heads, children } = props;
  return (
    <table aria-label={label}>
      {caption}
      <thead>
        <tr>
          {heads.map((head, index) => (
            <th key={index} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}
