/** A table of what is compared: A and B beside each other, under each name. */

import type { ReactElement, ReactNode } from 'react';

export function Sides(props: { label: string; children: ReactNode }): ReactElement {
  return (
    <table aria-label={props.label}>
      <thead>
        <tr>
          <th scope="col">A</th>
          <th scope="col">B</th>
        </tr>
      </thead>
      {props.children}
    </table>
  );
}

/** A cell for either side; `below` is one for both. */
export function SidesRow(props: {
  name: string;
  children: ReactNode;
  below?: ReactElement;
}): ReactElement {
  const { name, children, below } = props;
  return (
    <tbody>
      <tr>
        <th scope="rowgroup" colSpan={2}>
          {name}
        </th>
      </tr>
      <tr>{children}</tr>
      {below && <tr>{below}</tr>}
    </tbody>
  );
}
