/** A row with the plans, races, benchmarks and collections in a notebook's outputs, which open as pages. */

import type { ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import { plain } from '../language/prose';
import type { NotebookSession } from '../kernel/notebooks';
import type { IFigure } from '../kernel/savedfigures';
import { Button, Select } from '../receipts/controls';
import { useOwnedState } from '../receipts/useOwnedState';

export function Results(props: {
  session: NotebookSession;
  figures: readonly IFigure[];
  /** Opens a result as a page; null if there is no room beside the notebook. */
  onOpen: ((figure: IFigure) => void) | null;
  t: Translate;
}): ReactElement | null {
  const { session, figures, onOpen, t } = props;
  const [selected, setSelected] = useOwnedState<string | null>(session, 'figure', null);
  const figure = figures.find(({ key }) => key === selected) ?? figures.at(-1);
  if (figure === undefined) {
    return null;
  }
  return (
    <div className="jp-mlgpu-Results">
      {figures.length > 1 ? (
        <Select
          label={t('figureToShow')}
          value={figure.key}
          options={figures.map(one => [one.key, nameOf(one, t)])}
          onChoose={setSelected}
        />
      ) : (
        <span title={nameOf(figure, t)}>{nameOf(figure, t)}</span>
      )}
      <span className="jp-mlgpu-Results-actions">
        {onOpen && <Button label={t('open')} onClick={() => onOpen(figure)} />}
        <Button label={t('goToCell')} onClick={() => void session.goToCell(figure.cellId)} />
      </span>
    </div>
  );
}

function nameOf(figure: IFigure, t: Translate): string {
  return `[${figure.executionCount ?? ' '}] ${plain(t.say(figure.page.title))}`;
}
