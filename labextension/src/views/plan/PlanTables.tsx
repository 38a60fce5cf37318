/** What of a plan is read row by row: why operations fall back, the subgraphs, what crosses. */

import type { ReactElement } from 'react';

import { formatBytes } from '../../format';
import type { Translate } from '../../i18n';
import type { IPlan } from '../../plan';
import { Fold } from '../Fold';

export function Fallbacks(props: { plan: IPlan; t: Translate }): ReactElement {
  const { plan, t } = props;
  if (plan.fallbacks.length === 0) {
    return <p>{t('planNoFallback')}</p>;
  }
  return (
    <div className="jp-mlgpu-Details">
      <table>
        <caption>{t('planFallbacks')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('planOperation')}</th>
            <th scope="col">{t('planCount')}</th>
            <th scope="col">{t('planWhy')}</th>
          </tr>
        </thead>
        <tbody>
          {plan.fallbacks.map((one, index) => (
            <tr key={index}>
              <th scope="row" title={one.nodes.join(', ')}>
                {one.operation}
              </th>
              <td>{one.count.toLocaleString()}</td>
              <td>{t.say(one.reason)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Subgraphs(props: { plan: IPlan; t: Translate }): ReactElement {
  const { plan, t } = props;
  if (plan.subgraphs.length === 0) {
    return <p>{t('planNoSubgraph')}</p>;
  }
  const count = plan.subgraphs.length + (plan.cut.get('subgraphs') ?? 0);
  return (
    <Fold label={`${t('planSubgraphs')}: ${count.toLocaleString()}`}>
      {() => (
        <div className="jp-mlgpu-Details">
          <table aria-label={t('planSubgraphs')}>
            <thead>
              <tr>
                <th scope="col">{t('planFunction')}</th>
                <th scope="col">{t('planOperations')}</th>
                <th scope="col">{t('planOwnOperations')}</th>
              </tr>
            </thead>
            <tbody>
              {plan.subgraphs.map((one, index) => (
                <tr key={index}>
                  <th scope="row">{one.name}</th>
                  <td>{one.operations.toLocaleString()}</td>
                  <td>{one.own.toLocaleString()}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Fold>
  );
}

export function Crossings(props: { plan: IPlan; t: Translate }): ReactElement {
  const { plan, t } = props;
  if (plan.crossings.length === 0) {
    return <p>{t('planNoCrossing')}</p>;
  }
  const all = t(plan.unknownSizes > 0 ? 'planBytesAndUnknown' : 'planBytes', {
    bytes: formatBytes(plan.knownBytes),
    count: plan.unknownSizes.toLocaleString()
  });
  return (
    <Fold label={`${t('planCrossings')}: ${all}`}>
      {() => (
        <div className="jp-mlgpu-Details">
          <table aria-label={t('planCrossings')}>
            <thead>
              <tr>
                <th scope="col">{t('planTensor')}</th>
                <th scope="col">{t('planTo')}</th>
                <th scope="col">{t('planSize')}</th>
              </tr>
            </thead>
            <tbody>
              {plan.crossings.map((one, index) => (
                <tr key={index}>
                  <th scope="row">{`${one.tensor} (${one.type})`}</th>
                  <td>{t(one.to === 'host' ? 'planHost' : 'planDevice')}</td>
                  <td>{one.bytes === null ? t.say(one.whyMissing) : formatBytes(one.bytes)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Fold>
  );
}
