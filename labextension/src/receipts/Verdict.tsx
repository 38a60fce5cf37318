/** A verdict as a word and a shape, so that its colour is not needed. */

import type { ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import type { Verdict as VerdictName } from '../record/logs';

const DISC = 'M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1z';

const SHAPES: Record<VerdictName, string> = {
  // A stop sign with a cross.
  fatal:
    'M5 1h6l4 4v6l-4 4H5l-4-4V5zM5.3 4.1 4.1 5.3 6.8 8l-2.7 2.7 1.2 1.2L8 9.2l2.7 2.7 1.2-1.2L9.2 8l2.7-2.7-1.2-1.2L8 6.8z',
  // A triangle with an exclamation mark.
  action: 'M8 1l7.5 13.5H.5zM7.2 6v4.6h1.6V6zm0 5.7v1.6h1.6v-1.6z',
  // An hourglass.
  performance: 'M3 1h10v2.6L9.4 8l3.6 4.4V15H3v-2.6L6.6 8 3 3.6z',
  // A disc with an i.
  info: `${DISC}M7.2 3.8v1.7h1.6V3.8zm0 3v5.4h1.6V6.8z`,
  // A disc with a tick.
  harmless: `${DISC}M4.1 8.2l1.1-1.1L7 8.9l3.8-3.8 1.1 1.1L7 11.1z`,
  // A ring with a question mark.
  unknown: `${DISC}m0 1.4a5.6 5.6 0 1 0 0 11.2A5.6 5.6 0 0 0 8 2.4zM7.2 11h1.6v1.5H7.2zm0-1V8.6c0-.6.4-1 .9-1.3.5-.3.8-.5.8-.9 0-.5-.4-.8-.9-.8s-.9.3-1 .9l-1.5-.3C5.7 4.9 6.7 4.1 8 4.1s2.5.8 2.5 2.2c0 .9-.5 1.5-1.1 1.9-.4.3-.6.4-.6.7V10z`
};

export function Verdict(props: { verdict: VerdictName; t: Translate }): ReactElement {
  const { verdict, t } = props;
  return (
    <span className="jp-mlgpu-Verdict" data-verdict={verdict}>
      <VerdictShape verdict={verdict} />
      {t(verdict)}
    </span>
  );
}

export function VerdictShape(props: { verdict: VerdictName }): ReactElement {
  const { verdict } = props;
  return (
    <svg
      className="jp-mlgpu-Verdict-shape"
      data-verdict={verdict}
      viewBox="0 0 16 16"
      aria-hidden="true"
    >
      <path d={SHAPES[verdict]} fillRule="evenodd" />
    </svg>
  );
}
