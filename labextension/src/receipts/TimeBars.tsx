/**
 * Wall, CPU and device time as bars on one scale, a line each: the figure stands beside its bar. Few elements, for
 * a list of records draws many of them between two frames.
 */

import type { ReactElement } from 'react';

import { barWidth } from '../record/format';
import type { Translate } from '../language/i18n';
import type { IReading, IRecord } from '../record/record';
import { quantityName, shown, slowed, times, whyMissing } from '../record/words';

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
    <div className="jp-mlgpu-Bars">
      {shownTimes.map((reading, index) => (
        <div key={index} className="jp-mlgpu-Bars-line" data-quantity={reading.quantity}>
          {/* What is read aloud has a blank between the name and the figure. */}
          <span>{`${quantityName(reading.quantity, t)} `}</span>
          {reading.value === null ? (
            <Missing reading={reading} t={t} />
          ) : slowed(reading, record) ? (
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

/** What was not measured is hatched and says why, because it is not a time of zero. */
function Missing(props: { reading: IReading; t: Translate }): ReactElement {
  const { reading, t } = props;
  return (
    <span className="jp-mlgpu-Bars-words jp-mlgpu-Bars-missing" title={whyMissing(reading, t)}>
      {t('notMeasured')}
      <span className="jp-mlgpu-Hidden">{` ${t.say(reading.whyMissing ?? '')}`}</span>
    </span>
  );
}
