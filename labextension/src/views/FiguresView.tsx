/** The sidebar's plans, races and collections of engines: one of them, the last unless another is chosen. */

import { lazy, Suspense } from 'react';
import type { ReactElement } from 'react';

import type { IFigure } from '../plansandraces';
import type { Translate } from '../i18n';

const PlanView = lazy(async () => ({ default: (await import('./figures')).PlanView }));
const RaceView = lazy(async () => ({ default: (await import('./figures')).RaceView }));

const EnginesView = lazy(async () => ({
  default: (await import('./engines/EnginesView')).EnginesView
}));

export function FiguresView(props: {
  figures: readonly IFigure[];
  /** The key of the figure to show; null: the last. */
  chosen: string | null;
  onChoose: (key: string) => void;
  onGo: (figure: IFigure) => void;
  t: Translate;
}): ReactElement | null {
  const { figures, chosen, onChoose, onGo, t } = props;
  const figure = figures.find(({ key }) => key === chosen) ?? figures.at(-1);
  if (figure === undefined) {
    return null;
  }
  return (
    <div className="jp-mlgpu-Figures">
      <div className="jp-mlgpu-Figures-head">
        {figures.length > 1 && (
          <select
            className="jp-mlgpu-Input"
            aria-label={t('figureToShow')}
            value={figure.key}
            onChange={event => onChoose(event.target.value)}
          >
            {figures.map(one => (
              <option key={one.key} value={one.key}>
                {nameOf(one, t)}
              </option>
            ))}
          </select>
        )}
        <button type="button" className="jp-mlgpu-TextButton" onClick={() => onGo(figure)}>
          {t('goToCell')}
        </button>
      </div>
      <Suspense>
        {'plan' in figure ? (
          <PlanView key={figure.key} plan={figure.plan} t={t} />
        ) : 'engines' in figure ? (
          <EnginesView key={figure.key} found={figure.engines} t={t} />
        ) : (
          <RaceView key={figure.key} race={figure.race} whole t={t} />
        )}
      </Suspense>
    </div>
  );
}

/** What the tab is called: after what is in it. */
export function figuresName(figures: readonly IFigure[], t: Translate): string {
  const plans = figures.some(one => 'plan' in one);
  const races = figures.some(one => 'race' in one);
  const engines = figures.some(one => 'engines' in one);
  if (Number(plans) + Number(races) + Number(engines) > 1) {
    return t('plansAndRaces');
  }
  return t(engines ? 'engines' : races ? 'races' : 'plans');
}

function nameOf(figure: IFigure, t: Translate): string {
  const name =
    'plan' in figure
      ? t('planOf', { subject: figure.plan.subject })
      : 'engines' in figure
        ? t('enginesOf', {
            engines: figure.engines.engines.length.toLocaleString(),
            records: figure.engines.records.toLocaleString()
          })
        : t('raceOf', { cell: figure.race.cell });
  return `[${figure.executionCount ?? ' '}] ${name}`;
}
