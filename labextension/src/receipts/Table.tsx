/** A table with an accessible name, optional column heads, and rows. */

import type { ReactElement, ReactNode } from 'react';

export function Table(props: {
  label?: string | undefined;
  caption?: ReactElement | undefined;
  heads: readonly string[];
  children: ReactNode;
}): ReactElement {
  const { label, caption, heads, children } = props;
  return (
    <table aria-label={label}>
      {caption}
      {heads.length > 0 && (
        <thead>
          <tr>
            {heads.map((head, index) =>
              // An empty head above row names would be read as a column without a name.
              head === '' ? (
                <td key={index} />
              ) : (
                <th key={index} scope="col">
                  {head}
                </th>
              )
            )}
          </tr>
        </thead>
      )}
      <tbody>{children}</tbody>
    </table>
  );
}
