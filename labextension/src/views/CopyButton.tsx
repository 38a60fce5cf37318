/** A button that copies a text. */

import { useState } from 'react';
import type { ReactElement } from 'react';

import type { Translate } from '../i18n';

export function CopyButton(props: { text: string; t: Translate }): ReactElement {
  const { text, t } = props;
  const [copied, setCopied] = useState(false);
  const copy = (): void => {
    // Without permission to the clipboard the text still stands there to be selected.
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false)
    );
  };
  return (
    <button type="button" className="jp-mlgpu-TextButton" onClick={copy}>
      {t(copied ? 'copied' : 'copy')}
    </button>
  );
}
