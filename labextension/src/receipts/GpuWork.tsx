/** What each GPU did: its copies by direction, and the kernels that took most time. */

import type { ReactElement } from 'react';

import { formatBytes, formatSeconds, formatShare, formatValue } from '../record/format';
import type { Translate } from '../language/i18n';
import type { IGpuWork } from '../record/gpuwork';
import { Table } from './Table';

/** What is shorter is not told. */
const SHORTEST = 0.001;

export function GpuWork(props: { works: readonly IGpuWork[]; t: Translate }): ReactElement {
  const { works, t } = props;
  return (
    <>
      {works.map(work => (
        <div key={work.device}>
          {work.earlier >= SHORTEST && (
            <p>{t('gpuEarlier', { device: work.device, time: formatSeconds(work.earlier) })}</p>
          )}
          {work.wentOn >= SHORTEST && (
            <p>{t('gpuWentOn', { device: work.device, time: formatSeconds(work.wentOn) })}</p>
          )}
          {work.copies.length > 0 && <Copies work={work} t={t} />}
          {work.kernels.length > 0 && <Kernels work={work} t={t} />}
        </div>
      ))}
    </>
  );
}

function Copies(props: { work: IGpuWork; t: Translate }): ReactElement {
  const { work, t } = props;
  return (
    <Table
      caption={<caption>{t('copiesOf', { device: work.device })}</caption>}
      heads={[t('copies'), t('calls'), t('size'), t('time'), t('rate')]}
    >
      {work.copies.map(({ direction, count, bytes, seconds }) => (
        <tr key={direction}>
          <th scope="row">{direction}</th>
          <td>{count.toLocaleString('en')}</td>
          <td>{formatBytes(bytes)}</td>
          <td>{formatSeconds(seconds)}</td>
          <td>{seconds > 0 ? formatValue(bytes / seconds, 'bytes/s') : ''}</td>
        </tr>
      ))}
    </Table>
  );
}

function Kernels(props: { work: IGpuWork; t: Translate }): ReactElement {
  const { work, t } = props;
  const caption = t('kernelsOf', {
    device: work.device,
    time: formatSeconds(work.kernelSeconds),
    launches: work.launches.toLocaleString('en')
  });
  return (
    <Table
      caption={<caption>{caption}</caption>}
      heads={[t('kernel'), t('calls'), t('time'), t('shareOfTime')]}
    >
      {work.kernels.map(({ name, count, seconds }, index) => (
        <tr key={index}>
          <th scope="row">{name}</th>
          <td>{count.toLocaleString('en')}</td>
          <td>{formatSeconds(seconds)}</td>
          <td>{work.kernelSeconds > 0 ? formatShare(seconds / work.kernelSeconds) : ''}</td>
        </tr>
      ))}
    </Table>
  );
}
