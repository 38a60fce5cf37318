/**
 * A race as a chart with its table. Under a cell the race's own output tells the rest below; in the sidebar
 * all of it stands here.
 */

import type { ReactElement } from 'react';

import type { Translate } from '../../i18n';
import { cutInWords } from '../../notes';
import type { IRace, ITiming } from '../../race';
import { formatSize, formatTiming } from '../../racechart';
import { Fold } from '../Fold';
import { RaceChart } from './RaceChart';

export function RaceView(props: { race: IRace; whole: boolean; t: Translate }): ReactElement {
  const { race, whole, t } = props;
  const title = t('raceOf', { cell: race.cell });
  const cut = [...race.cut].map(part => cutInWords(part, t)).join(', ');
  return (
    <section className="jp-mlgpu-Figure" aria-label={title}>
      <h3>{title}</h3>
      {whole && [race.head, ...race.sentences].map((one, index) => <p key={index}>{t.say(one)}</p>)}
      <RaceChart race={race} t={t} />
      {race.crossovers.map(({ large, size }, index) => (
        <p key={index} className="jp-mlgpu-Race-words">
          {t('raceCrossover', {
            device: large,
            variable: race.variable ?? t('raceSize'),
            size: formatSize(size)
          })}
        </p>
      ))}
      <Fold label={t('raceTable')}>{() => <Times race={race} t={t} />}</Fold>
      {cut !== '' && <p className="jp-mlgpu-Quiet">{t('raceCut', { parts: cut })}</p>}
      {whole && (
        <Fold label={t('raceNotes')}>
          {() => (
            <ul className="jp-mlgpu-Figure-notes">
              {race.notes.map((note, index) => (
                <li key={index}>{t.say(note)}</li>
              ))}
            </ul>
          )}
        </Fold>
      )}
    </section>
  );
}

function Times(props: { race: IRace; t: Translate }): ReactElement {
  const { race, t } = props;
  const several = race.lanes.length > 1;
  return (
    <div
      className="jp-mlgpu-Details jp-mlgpu-Figure-wide"
      role="group"
      aria-label={t('raceTable')}
      tabIndex={0}
    >
      <table>
        <caption>{t('raceSpread')}</caption>
        <thead>
          <tr>
            {race.variable !== null && <th scope="col">{race.variable}</th>}
            {race.lanes.map(({ device }, index) => (
              <th key={index} scope="col">
                {device}
              </th>
            ))}
            {several && <th scope="col">{t('raceFaster')}</th>}
          </tr>
        </thead>
        <tbody>
          {race.sizes.map((size, index) => (
            <tr key={index}>
              {race.variable !== null && (
                <th scope="row">{size === null ? '' : formatSize(size)}</th>
              )}
              {race.lanes.map(({ timings }, lane) => (
                <td key={lane}>{timed(timings[index] ?? null, t)}</td>
              ))}
              {several && <td>{faster(race, index, t)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function timed(timing: ITiming | null, t: Translate): string {
  if (timing === null) {
    return t('raceNotMeasured');
  }
  return timing.steady ? formatTiming(timing) : `${formatTiming(timing)}, ${t('raceUnsteady')}`;
}

function faster(race: IRace, index: number, t: Translate): string {
  const found = race.fastest[index];
  if (found) {
    const { times, lane } = found;
    const device = race.lanes[lane]?.device ?? '';
    const said =
      times >= 100 ? Math.round(times).toLocaleString() : String(Number(times.toPrecision(3)));
    return t('raceTimes', { device, times: said });
  }
  const measured = race.lanes.filter(({ timings }) => timings[index]);
  return measured.length > 1 ? t('raceNotCertain') : '';
}
