/** A shape for where an operation may run, so that its colour is not needed. */

import type { ReactElement } from 'react';

import type { IGraph, Kind } from './graph';
import type { Translate } from '../language/i18n';

export const SHAPES: Record<Kind, string> = {
  // A square.
  own: 'M2 2h8v8H2z',
  // A ring.
  shared: 'M6 1a5 5 0 1 1 0 10A5 5 0 0 1 6 1zM6 3a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
  // A triangle.
  cpu: 'M6 1l5.5 10H.5z'
};

export function KindMark(props: { kind: Kind }): ReactElement {
  const { kind } = props;
  return (
    <svg
      className="jp-mlgpu-Kind-mark"
      data-kind={kind}
      viewBox="0 0 12 12"
      width="12"
      height="12"
      aria-hidden="true"
    >
      <path d={SHAPES[kind]} fillRule="evenodd" />
    </svg>
  );
}

/** The mark with its name. */
export function KindName(props: { kind: Kind; graph: IGraph; t: Translate }): ReactElement {
  const { kind, graph, t } = props;
  const names: Record<Kind, string> = {
    own: graph.target,
    shared: t('planSharedShort'),
    cpu: t('planCpuShort')
  };
  return (
    <span className="jp-mlgpu-Kind">
      <KindMark kind={kind} />
      {names[kind]}
    </span>
  );
}
