/** What the kernel does now: its device, whether cells are traced, and what the machine is at. */

import type { ReactElement } from 'react';

import type { Translate } from '../i18n';
import type { IState } from '../state';
import { DeviceStatus } from './DeviceStatus';

export function NowView(props: { state: IState; t: Translate }): ReactElement {
  const { state, t } = props;
  return <DeviceStatus device={state.device} tracing={state.tracing} t={t} />;
}
