/** The plans, races, benchmarks and collections of a notebook, one at a time. */

import { Suspense, type ReactElement } from 'react';

import { PageView } from '../page/figurewidget';
import type { Message, Translate } from '../language/i18n';
import type { IPage } from '../page/page';
import type { IFigure } from '../kernel/savedfigures';
import { Button, Select } from '../receipts/controls';
import { plain } from '../language/prose';

export function FiguresView(props: {
  figures: readonly IFigure[];
  /** Key of the selected figure; null for the last one. */
  selected: string | null;
  onChoose: (key: string) => void;
  onGo: (figure: IFigure) => void;
  t: Translate;
}): ReactElement | null {
  const { figures, selected, onChoose, onGo, t } = props;
  const figure = figures.find(({ key }) => key === selected) ?? figures.at(-1);
  if (figure === undefined) {
    return null;
  }
  return (
    <div className="jp-mlgpu-Figures">
      <div className="jp-mlgpu-Figures-head">
        {figures.length > 1 && (
          <Select
            label={t('figureToShow')}
            value={figure.key}
            options={figures.map(one => [one.key, nameOf(one, t)])}
            onChoose={onChoose}
          />
        )}
        <Button label={t('goToCell')} onClick={() => onGo(figure)} />
      </div>
      <Suspense>
        <PageView key={figure.key} page={figure.page} t={t} />
      </Suspense>
    </div>
  );
}

const TABS: Record<IPage['kind'], Message> = {
  page: 'plansAndRaces',
  plan: 'plans',
  race: 'races',
  bench: 'benches',
  engines: 'engines'
};

/** Return the tab's name, according to its content. */
export function figuresName(figures: readonly IFigure[], t: Translate): string {
  const [name, ...others] = new Set(figures.map(({ page }) => TABS[page.kind]));
  return t(name === undefined || others.length > 0 ? 'plansAndRaces' : name);
}

function nameOf(figure: IFigure, t: Translate): string {
  return `[${figure.executionCount ?? ' '}] ${plain(t.say(figure.page.title))}`;
}
