/** Wall, CPU and device time as bars on one scale: a table, so that the figures stand beside the bars. */

import type { ReactElement } from 'react';

import { barWidth } from '../format';
import type { Translate } from '../i18n';
import type { IReading, IRecord } from '../record';
import { quantityName, shown, slowed, times, whyMissing } from '../words';

export function TimeBars(props: {
  record: IRecord;
  /** Seconds that fill a bar. */
  scale: number;
  /** The times to show; all that the record has where nothing is said. */
  only?: readonly string[];
  t: Translate;
}): ReactElement {
  const { record, scale, only, t } = props;
  const shownTimes = times(record).filter(({ quantity }) => only?.includes(quantity) ?? true);
  return (
    <table className="jp-mlgpu-Bars">
      <tbody>
        {shownTimes.map((reading, index) => (
          <tr key={index} data-quantity={reading.quantity}>
            <th scope="row">{quantityName(reading.quantity, t)}</th>
            {reading.value === null ? (
              <Missing reading={reading} t={t} />
            ) : slowed(reading, record) ? (
              <td colSpan={2} className="jp-mlgpu-Quiet">
                {shown(reading, record, t)}
              </td>
            ) : (
              <>
                <td aria-hidden="true">
                  <div
                    className="jp-mlgpu-Bar"
                    style={{ width: `${barWidth(reading.value, scale)}%` }}
                  />
                </td>
                <td className="jp-mlgpu-Bars-figure">{shown(reading, record, t)}</td>
              </>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What was not measured is hatched and says why, because it is not a time of zero. */
function Missing(props: { reading: IReading; t: Translate }): ReactElement {
  const { reading, t } = props;
  return (
    <td colSpan={2} className="jp-mlgpu-Bars-missing" title={whyMissing(reading, t)}>
      <span className="jp-mlgpu-Hatched" aria-hidden="true" />
      {t('notMeasured')}
      <span className="jp-mlgpu-Hidden">{reading.whyMissing}</span>
    </td>
  );
}
