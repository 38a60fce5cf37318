/**
 * Plans, races, benchmarks and what was collected from engines, under cells: drawn from the saved data alone, in
 * any notebook, without a kernel.
 */

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { ReactWidget } from '@jupyterlab/ui-components';
import { lazy, Suspense } from 'react';
import type { ReactElement } from 'react';

import { BENCH_TYPE, readBench } from './bench';
import { ENGINES_TYPE, readEngines } from './engines';
import type { Translate } from './i18n';
import { languageOf } from './language';
import type { Language } from './language';
import { PLAN_TYPE, readPlan } from './plan';
import { RACE_TYPE, readRace } from './race';
import type { Unreadable } from './record';

// What draws them is loaded with the first of them.
const BenchView = lazy(async () => ({ default: (await import('./views/figures')).BenchView }));
const PlanView = lazy(async () => ({ default: (await import('./views/figures')).PlanView }));
const RaceView = lazy(async () => ({ default: (await import('./views/figures')).RaceView }));
const EnginesView = lazy(async () => ({
  default: (await import('./views/engines/EnginesView')).EnginesView
}));

class FigureWidget<T extends object> extends ReactWidget implements IRenderMime.IRenderer {
  constructor(
    private readonly mimeType: string,
    private readonly read: (data: unknown) => T | Unreadable,
    private readonly draw: (figure: T, t: Translate) => ReactElement,
    languageCode: string
  ) {
    super();
    this.language = languageOf(languageCode);
    this.language.changed.connect(this.update, this);
    this.addClass('jp-mlgpu-FigureWidget');
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.figure = this.read(model.data[this.mimeType]);
    await this.language.ready;
    this.update();
  }

  protected override render(): ReactElement {
    const { t } = this.language;
    return typeof this.figure === 'string' ? (
      <p className="jp-mlgpu-Figure jp-mlgpu-Quiet">
        {t(this.figure === 'newer' ? 'newerFigure' : 'invalidFigure')}
      </p>
    ) : (
      <Suspense>{this.draw(this.figure, t)}</Suspense>
    );
  }

  private figure: T | Unreadable = 'invalid';
  private readonly language: Language;
}

export const plan: IRenderMime.IExtension = {
  id: 'jupyter-mlgpu:plan',
  description: 'Draws the plans of %mlc_plan.',
  // As the receipt: drawn before text/html, and all that is shown is escaped.
  rank: 0,
  rendererFactory: {
    safe: true,
    mimeTypes: [PLAN_TYPE],
    createRenderer: options =>
      new FigureWidget(
        PLAN_TYPE,
        readPlan,
        (figure, t) => <PlanView plan={figure} t={t} />,
        options.translator?.languageCode ?? 'en'
      )
  },
  dataType: 'json'
};

export const race: IRenderMime.IExtension = {
  id: 'jupyter-mlgpu:race',
  description: 'Draws the races of %%mlc_race.',
  // Before plotly's, which has 0: one chart, the same in the sidebar, with its table and the page's colours.
  rank: -1,
  rendererFactory: {
    safe: true,
    mimeTypes: [RACE_TYPE],
    createRenderer: options =>
      new FigureWidget(
        RACE_TYPE,
        readRace,
        (figure, t) => <RaceView race={figure} whole={false} t={t} />,
        options.translator?.languageCode ?? 'en'
      )
  },
  dataType: 'json'
};

export const bench: IRenderMime.IExtension = {
  id: 'jupyter-mlgpu:bench',
  description: 'Draws the charts of %mlc_bench.',
  // Before plotly's, as the race.
  rank: -1,
  rendererFactory: {
    safe: true,
    mimeTypes: [BENCH_TYPE],
    createRenderer: options =>
      new FigureWidget(
        BENCH_TYPE,
        readBench,
        (figure, t) => <BenchView bench={figure} whole={false} t={t} />,
        options.translator?.languageCode ?? 'en'
      )
  },
  dataType: 'json'
};

export const engines: IRenderMime.IExtension = {
  id: 'jupyter-mlgpu:engines',
  description: 'Draws what jupyter_mlgpu.collect has brought together.',
  rank: 0,
  rendererFactory: {
    safe: true,
    mimeTypes: [ENGINES_TYPE],
    createRenderer: options =>
      new FigureWidget(
        ENGINES_TYPE,
        readEngines,
        (found, t) => <EnginesView found={found} t={t} />,
        options.translator?.languageCode ?? 'en'
      )
  },
  dataType: 'json'
};
