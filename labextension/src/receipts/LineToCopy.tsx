/** A line of code with a button that copies it. */

import type { ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import { CopyButton } from './CopyButton';

export function LineToCopy(props: { text: string; t: Translate }): ReactElement {
  const { text, t } = props;
  return (
    <div className="jp-mlgpu-LineToCopy">
      <code>{text}</code>
      <CopyButton text={text} t={t} />
    </div>
  );
}
