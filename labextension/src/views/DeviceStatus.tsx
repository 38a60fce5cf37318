/** The device the notebook asked for, those it could have, and whether cells are traced. */

import type { ReactElement } from 'react';

import type { Translate } from '../i18n';
import type { IDeviceStatus } from '../protocol';

export function DeviceStatus(props: {
  device: IDeviceStatus | null;
  tracing: boolean | null;
  t: Translate;
}): ReactElement {
  const { device, tracing, t } = props;
  return (
    <dl className="jp-mlgpu-Status">
      <dt>{t('device')}</dt>
      <dd>
        <span className="jp-mlgpu-Status-main">{device?.requested ?? t('anyDevice')}</span>
        <span className="jp-mlgpu-Quiet jp-mlgpu-Status-available">{availableText(device, t)}</span>
      </dd>
      {tracing !== null && (
        <>
          <dt>{t('tracing')}</dt>
          <dd>
            <span className="jp-mlgpu-Dot" data-on={tracing} aria-hidden="true" />
            {t(tracing ? 'tracingOn' : 'tracingOff')}
          </dd>
        </>
      )}
    </dl>
  );
}

function availableText(device: IDeviceStatus | null, t: Translate): string {
  if (!device?.available) {
    return device?.whyMissing ?? t('availableUnknown');
  }
  // Several frameworks may have a device of the same name.
  const devices = [...new Set(device.available.map(entry => entry.device))].join(', ');
  return t('available', { devices });
}
