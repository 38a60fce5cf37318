/** The table beside the charts of one device: a row every ten seconds. */

import { useState } from 'react';
import type { ReactElement } from 'react';

import type { ICounters } from '../counters';
import { gaugeValue, rows } from '../gauges';
import type { IGroup } from '../gauges';
import type { Translate } from '../i18n';
import { quantityName } from '../words';

export function GaugeTable(props: {
  counters: ICounters;
  group: IGroup;
  /** The device's name. */
  name: string;
  t: Translate;
}): ReactElement {
  const { counters, group, name, t } = props;
  const [open, setOpen] = useState(false);
  return (
    <details className="jp-mlgpu-GaugeTable" onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>{t('asTable')}</summary>
      {open && (
        <div className="jp-mlgpu-GaugeTable-scroll" role="region" aria-label={name} tabIndex={0}>
          <table>
            <caption className="jp-mlgpu-Hidden">{name}</caption>
            <thead>
              <tr>
                <th scope="col">{t('timeOfDay')}</th>
                {group.gauges.map(gauge => (
                  <th key={gauge.index} scope="col">
                    {quantityName(gauge.quantity, t)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows(counters).map(({ at, values }) => (
                <tr key={at}>
                  <th scope="row">{new Date(at).toLocaleTimeString()}</th>
                  {group.gauges.map(({ index, unit }) => {
                    const value = values[index] ?? null;
                    return <td key={index}>{value === null ? '–' : gaugeValue(value, unit, t)}</td>;
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
