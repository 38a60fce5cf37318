/** The sidebar's plans, races, benchmarks and collections: one of them, the last unless another is chosen. */

import { lazy, Suspense } from 'react';
import type { ReactElement } from 'react';

import type { IFigure } from '../plansandraces';
import type { Translate } from '../i18n';

const BenchView = lazy(async () => ({ default: (await import('./figures')).BenchView }));
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
        ) : 'bench' in figure ? (
          <BenchView key={figure.key} bench={figure.bench} whole t={t} />
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
  const kinds = new Set(figures.map(kindOf));
  const [kind] = kinds;
  return t(kinds.size > 1 || kind === undefined ? 'plansAndRaces' : kind);
}

function kindOf(figure: IFigure): 'plans' | 'races' | 'benches' | 'engines' {
  return 'plan' in figure
    ? 'plans'
    : 'race' in figure
      ? 'races'
      : 'bench' in figure
        ? 'benches'
        : 'engines';
}

function nameOf(figure: IFigure, t: Translate): string {
  const name =
    'plan' in figure
      ? t('planOf', { subject: figure.plan.subject })
      : 'bench' in figure
        ? t('benchOf', { cases: figure.bench.name })
        : 'engines' in figure
          ? t('enginesOf', {
              engines: figure.engines.engines.length.toLocaleString(),
              records: figure.engines.records.toLocaleString()
            })
          : t('raceOf', { cell: figure.race.cell });
  return `[${figure.executionCount ?? ' '}] ${name}`;
}
