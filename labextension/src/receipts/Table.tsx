/** A table with a name, heads of its columns where these have any, and rows. */

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
              // Above the names of rows there may be nothing to say, which is no head.
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
