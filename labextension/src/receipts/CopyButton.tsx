/** A button that copies a text. */

import { useState, type ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import { Button } from './controls';

export function CopyButton(props: { text: string; t: Translate }): ReactElement {
  const { text, t } = props;
  const [copied, setCopied] = useState(false);
  const copy = (): void => {
    // Without permission for the clipboard the text can still be selected by hand.
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false)
    );
  };
  return <Button label={t(copied ? 'copied' : 'copy')} onClick={copy} />;
}
