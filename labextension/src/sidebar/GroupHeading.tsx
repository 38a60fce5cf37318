/** The heading of a group of records: a run of the kernel, or the runs of one cell. */

import type { ReactElement } from 'react';

import { dotted } from '../record/format';
import type { IHeading, ITrend } from '../record/cellrows';
import type { Translate } from '../language/i18n';
import { CellName } from './RunningCell';
import { Trend } from './Trend';
import { Caret } from '../receipts/icons';

export function GroupHeading(props: {
  heading: IHeading;
  /** Trend of the cell's runs; null for other groups. */
  trend: ITrend | null;
  /** True for the notebook's current run of the kernel. */
  current: boolean;
  tabStop: boolean;
  onToggle: () => void;
  t: Translate;
}): ReactElement {
  const { heading, trend, current, tabStop, onToggle, t } = props;
  const { group, example, count, open } = heading;
  return (
    <>
      <h4>
        <button
          type="button"
          className="jp-mlgpu-Go"
          aria-expanded={open}
          tabIndex={tabStop ? 0 : -1}
          onClick={onToggle}
        >
          <Caret open={open} />
          {group !== 'run' ? (
            <CellName cell={{ ...example.record.cell, turn: null }} />
          ) : (
            <span>{runName(heading, current, t)}</span>
          )}
          <span className="jp-mlgpu-Quiet">{count.toLocaleString()}</span>
        </button>
      </h4>
      {trend && <Trend trend={trend} t={t} />}
    </>
  );
}

function runName({ example, since }: IHeading, current: boolean, t: Translate): string {
  const { notebook, origin } = example.record;
  const begun = new Date(since);
  return dotted(
    Number.isNaN(begun.getTime()) ? t('someRun') : t('runSince', { time: begun.toLocaleString() }),
    current && t('thisKernel'),
    origin !== 'live' && t(origin),
    !current && notebook
  );
}
