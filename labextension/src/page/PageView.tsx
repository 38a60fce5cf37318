/**
 * A page: its sentences, its charts, its tables, and how to read them. Under a cell whose next output says the
 * rest, the charts stand alone; in the sidebar all of it is here.
 */

import { useCallback } from 'react';
import type { ReactElement } from 'react';

import type { NameOf } from '../record/eventwords';
import type { Translate } from '../language/i18n';
import type { ILanes, IPage, IPart } from './page';
import type { ITable } from './pagetypes';
import type { Sentence } from '../language/sentence';
import { Fold } from '../receipts/Fold';
import { Timeline } from '../sidebar/recordpage/Timeline';
import type { Words } from '../sidebar/recordpage/Timeline';
import { ChartView } from './ChartView';
import { GraphView } from './GraphView';
import { TableView } from './TableView';

export function PageView(props: { page: IPage; whole: boolean; t: Translate }): ReactElement {
  const { page, whole, t } = props;
  const title = t.say(page.title);
  const isTold = page.toldBelow && !whole;
  const parts = isTold ? [] : page.parts;
  // Beside charts all that is said comes first: a chart's own lines say the same.
  const hasCharts = page.charts.length > 0;
  const before = hasCharts ? parts.filter(isSentence) : [];
  const after = hasCharts ? parts.filter(part => !isSentence(part)) : parts;
  const said = new Set(before.map(t.say));
  return (
    <section className="jp-mlgpu-Figure" aria-label={title}>
      <h3>{title}</h3>
      {before.map((part, index) => (
        <Part key={index} part={part} page={page} t={t} />
      ))}
      {page.charts.map((chart, index) => (
        <ChartView key={index} chart={chart} said={said} t={t} />
      ))}
      {isTold && !hasCharts && <p className="jp-mlgpu-Quiet">{t('pageNoChart')}</p>}
      {after.map((part, index) => (
        <Part key={index} part={part} page={page} t={t} />
      ))}
      {!isTold && (
        <>
          {page.details.map((table, index) => (
            <Folded key={index} table={table} label={table.summary} t={t} />
          ))}
          {page.notes.length > 0 && <Notes notes={page.notes} t={t} />}
        </>
      )}
    </section>
  );
}

function Part(props: { part: IPart; page: IPage; t: Translate }): ReactElement {
  const { part, page, t } = props;
  if (isSentence(part)) {
    return <p>{t.say(part)}</p>;
  }
  if ('drawings' in part) {
    return <GraphView graph={part} t={t} />;
  }
  if ('timeline' in part) {
    return <Lanes lanes={part} t={t} />;
  }
  // Beside a chart, which says the same.
  const label = part.summary || (page.charts.length > 0 && t('pageTable'));
  return label ? <Folded table={part} label={label} t={t} /> : <TableView table={part} t={t} />;
}

function Folded(props: { table: ITable; label: Sentence; t: Translate }): ReactElement {
  const { table, label, t } = props;
  return (
    <Fold label={t.say(label)}>
      {() => <TableView table={{ ...table, caption: table.caption || label }} t={t} />}
    </Fold>
  );
}

function Notes(props: { notes: readonly Sentence[]; t: Translate }): ReactElement {
  const { notes, t } = props;
  return (
    <Fold label={t('pageNotes')}>
      {() => (
        <ul className="jp-mlgpu-Figure-notes">
          {notes.map((note, index) => (
            <li key={index}>{t.say(note)}</li>
          ))}
        </ul>
      )}
    </Fold>
  );
}

function Lanes(props: { lanes: ILanes; t: Translate }): ReactElement | null {
  const { lanes, t } = props;
  const { timeline, names } = lanes;
  const nameOf = useCallback<NameOf>(
    (lane, say) => say.say(names[timeline.lanes.findIndex(one => one === lane)] ?? ''),
    [timeline, names]
  );
  return timeline.starts.length === 0 ? null : (
    <Timeline timeline={timeline} all nameOf={nameOf} words={WORDS} t={t} />
  );
}

const WORDS: Words = {
  view: 'enginesInView',
  whole: 'enginesWhole',
  keys: 'enginesKeys'
};

function isSentence(part: IPart): part is Sentence {
  return typeof part === 'string' || 'template' in part;
}
