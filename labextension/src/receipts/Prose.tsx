/** A sentence in which names of code stand between backticks, as Python says them: drawn as code. */

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
