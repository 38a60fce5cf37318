/** Memory while a cell ran, from the live counters: a curve for each series, and one table. */

import { useState, type ReactElement } from 'react';

import { formatSeconds, formatValue } from '../../record/format';
import type { Translate } from '../../language/i18n';
import { points, span, type IMemorySamples } from '../../record/memorysamples';
import { scopeName } from '../../record/words';
import { Curve } from '../Curve';
import type { RecordPage } from './useRecordPage';
import { WindowedTable } from './WindowedTable';

export function MemorySection(props: {
  page: RecordPage;
  /** Duration of the cell in seconds; null if it was not measured. */
  seconds: number | null;
  t: Translate;
}): ReactElement {
  const { page, seconds, t } = props;
  if (page.state !== 'answered') {
    const message =
      page.state === 'asking' ? t('kernel_asking') : t('timelineFailed', { why: t.say(page.why) });
    return <p className="jp-mlgpu-Quiet">{message}</p>;
  }
  const { samples } = page.details;
  if (typeof samples === 'string') {
    return <p className="jp-mlgpu-Quiet">{t(`memory_${samples}`)}</p>;
  }
  const end = seconds ?? samples.samples.at(-1)?.at ?? 0;
  return (
    <>
      <p className="jp-mlgpu-Quiet">
        {t('memoryNote', { interval: formatSeconds(samples.interval) })}
      </p>
      {samples.series.map((_, index) => (
        <Memory key={index} samples={samples} series={index} end={end} t={t} />
      ))}
      <Figures samples={samples} t={t} />
    </>
  );
}

function Memory(props: {
  samples: IMemorySamples;
  series: number;
  end: number;
  t: Translate;
}): ReactElement | null {
  const { samples, series, end, t } = props;
  const range = span(samples, series);
  const one = samples.series[series];
  if (one === undefined) {
    return null;
  }
  const device = scopeName(one.device, t);
  if (range === null) {
    const why = one.whyMissing;
    return (
      <p>
        {t('memoryOf', { device })}{' '}
        <span className="jp-mlgpu-Quiet">
          {why === null ? t('notMeasured') : t('notMeasuredBecause', { why: t.say(why) })}
        </span>
      </p>
    );
  }
  const [least, most] = range.map(value => formatValue(value, one.unit)) as [string, string];
  return (
    <figure className="jp-mlgpu-Memory">
      <figcaption>
        {t('memoryOf', { device })}{' '}
        <span className="jp-mlgpu-Quiet">
          {t('memoryRange', { least, most })} · {t.say(one.source)}
        </span>
      </figcaption>
      <Curve
        points={points(samples, series)}
        sides={{ from: 0, to: end, top: range[1] }}
        label={t('memoryLabel', { device, least, most })}
      />
      <div className="jp-mlgpu-Memory-scale jp-mlgpu-Quiet" aria-hidden="true">
        <span>0 s</span>
        <span>{formatSeconds(end)}</span>
      </div>
    </figure>
  );
}

function Figures(props: { samples: IMemorySamples; t: Translate }): ReactElement {
  const { samples, t } = props;
  const [open, setOpen] = useState(false);
  const columns = [
    { id: 'at', label: t('afterStart'), figures: true },
    ...samples.series.flatMap(({ device }, index) =>
      span(samples, index) === null
        ? []
        : [{ id: String(index), label: scopeName(device, t), figures: true }]
    )
  ];
  const cell = (row: number, column: string): string => {
    const sample = samples.samples[row];
    if (sample === undefined || column === 'at') {
      return sample === undefined ? '' : formatSeconds(sample.at);
    }
    const value = sample.values[Number(column)] ?? null;
    return value === null
      ? t('notMeasured')
      : formatValue(value, samples.series[Number(column)]?.unit ?? '');
  };
  return (
    <details onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>{t('memoryTable')}</summary>
      {open && (
        <WindowedTable
          label={t('memoryTable')}
          columns={columns}
          count={samples.samples.length}
          cell={cell}
        />
      )}
    </details>
  );
}
