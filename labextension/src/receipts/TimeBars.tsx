/** The times that were measured as bars on one scale, a line each: the figure stands beside its bar. */

import type { ReactElement } from 'react';

import { barWidth } from '../record/format';
import type { Translate } from '../language/i18n';
import type { IRecord } from '../record/record';
import { quantityName, shown, slowed, times } from '../record/words';

export function TimeBars(props: {
  record: IRecord;
  /** Seconds that fill a bar. */
  scale: number;
  t: Translate;
}): ReactElement {
  const { record, scale, t } = props;
  return (
    <div className="jp-mlgpu-Bars">
      {times(record).map((reading, index) => (
        <div key={index} className="jp-mlgpu-Bars-line" data-quantity={reading.quantity}>
          {/* What is read aloud has a blank between the name and the figure. */}
          <span>{`${quantityName(reading.quantity, t)} `}</span>
          {slowed(reading, record) ? (
            <span className="jp-mlgpu-Bars-words">{shown(reading, record, t)}</span>
          ) : (
            <>
              <span
                className="jp-mlgpu-Bar"
                style={{ width: `${barWidth(reading.value, scale)}%` }}
              />
              <span className="jp-mlgpu-Bars-figure">{shown(reading, record, t)}</span>
            </>
          )}
        </div>
      ))}
    </div>
  );
}
