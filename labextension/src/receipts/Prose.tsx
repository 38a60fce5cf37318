/** A sentence with code between backticks, which is rendered as code. */

import type { ReactElement } from 'react';

import { inParts } from '../language/prose';

export function Prose(props: { text: string }): ReactElement {
  return (
    <>
      {inParts(props.text).map(({ text, code }, index) =>
        code ? <code key={index}>{text}</code> : text
      )}
    </>
  );
}
