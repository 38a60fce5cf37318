/**
 * A benchmark as charts with their table. Under a cell the benchmark's own output tells the rest below; in
 * the sidebar all of it stands here.
 */

import type { ReactElement } from 'react';

import type { IBench } from '../../bench';
import type { Translate } from '../../i18n';
import { cutInWords } from '../../notes';
import { Fold } from '../Fold';
import { BenchChart } from './BenchChart';

export function BenchView(props: { bench: IBench; whole: boolean; t: Translate }): ReactElement {
  const { bench, whole, t } = props;
  const title = t('benchOf', { cases: bench.name });
  const cut = [...bench.cut].map(part => cutInWords(part, t)).join(', ');
  return (
    <section className="jp-mlgpu-Figure" aria-label={title}>
      <h3>{title}</h3>
      <p>{t.say(bench.head)}</p>
      {bench.charts.map((chart, index) => (
        <BenchChart key={index} chart={chart} t={t} />
      ))}
      {bench.charts.length === 0 && <p className="jp-mlgpu-Quiet">{t('benchNoChart')}</p>}
      {whole && (
        <>
          <Fold label={t('benchTable')}>{() => <Figures bench={bench} t={t} />}</Fold>
          <Fold label={t('benchNotes')}>
            {() => (
              <ul className="jp-mlgpu-Figure-notes">
                {bench.notes.map((note, index) => (
                  <li key={index}>{t.say(note)}</li>
                ))}
              </ul>
            )}
          </Fold>
        </>
      )}
      {cut !== '' && <p className="jp-mlgpu-Quiet">{t('raceCut', { parts: cut })}</p>}
    </section>
  );
}

function Figures(props: { bench: IBench; t: Translate }): ReactElement {
  const { bench, t } = props;
  return (
    <div
      className="jp-mlgpu-Details jp-mlgpu-Figure-wide"
      role="group"
      aria-label={t('benchTable')}
      tabIndex={0}
    >
      <table>
        <thead>
          <tr>
            {bench.titles.map((title, index) => (
              <th key={index} scope="col">
                {t.say(title)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {bench.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, place) =>
                place === 0 ? (
                  <th key={place} scope="row">
                    {cell}
                  </th>
                ) : (
                  <td key={place}>{cell}</td>
                )
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
