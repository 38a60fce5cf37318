/** A page: its headline, sentences and first chart, and in collapsible sections its tables and notes. */

import type { ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import type { IPage, IPart } from './page';
import type { ITable } from './pagetypes';
import type { Sentence } from '../language/sentence';
import { Fold } from '../receipts/Fold';
import { ChartView } from './ChartView';
import { GraphView } from './GraphView';
import { TableView } from './TableView';
import { Prose } from '../receipts/Prose';
import { plain } from '../language/prose';

export function PageView(props: { page: IPage; t: Translate }): ReactElement {
  const { page, t } = props;
  const { parts } = page;
  const [title, headline] = [t.say(page.title), t.say(page.headline)];
  // Sentences come before the chart, whose own lines may repeat them.
  const [chart, ...moreCharts] = page.charts;
  const hasCharts = chart !== undefined;
  const before = hasCharts ? parts.filter(isSentence).filter(part => t.say(part) !== title) : [];
  const after = hasCharts ? parts.filter(part => !isSentence(part)) : parts;
  const above = new Set([title, headline, ...before.map(t.say)]);
  return (
    <div role="group" className="jp-mlgpu-Figure" aria-label={plain(title)}>
      <h3>
        <Prose text={title} />
      </h3>
      {headline !== '' && (
        <p className="jp-mlgpu-Figure-headline">
          <Prose text={headline} />
        </p>
      )}
      {before.map((part, index) => (
        <Part key={index} part={part} t={t} />
      ))}
      {hasCharts && <ChartView chart={chart} above={above} t={t} />}
      {after.map((part, index) => (
        <Part key={index} part={part} t={t} />
      ))}
      {page.details.map((table, index) => (
        <Folded key={index} table={table} label={table.summary} t={t} />
      ))}
      {moreCharts.length > 0 && (
        <Fold label={t('pageCharts')}>
          {() =>
            moreCharts.map((one, index) => (
              <ChartView key={index} chart={one} above={above} t={t} />
            ))
          }
        </Fold>
      )}
      {page.notes.length > 0 && <Notes notes={page.notes} t={t} />}
    </div>
  );
}

function Part(props: { part: IPart; t: Translate }): ReactElement {
  const { part, t } = props;
  if (isSentence(part)) {
    return (
      <p>
        <Prose text={t.say(part)} />
      </p>
    );
  }
  if ('drawings' in part) {
    return <GraphView graph={part} t={t} />;
  }
  return part.summary ? (
    <Folded table={part} label={part.summary} t={t} />
  ) : (
    <TableView table={part} t={t} />
  );
}

function Folded(props: { table: ITable; label: Sentence; t: Translate }): ReactElement {
  const { table, label, t } = props;
  const summary = t.say(label);
  return (
    <Fold label={summary}>{() => <TableView table={table} foldedUnder={summary} t={t} />}</Fold>
  );
}

function Notes(props: { notes: readonly Sentence[]; t: Translate }): ReactElement {
  const { notes, t } = props;
  return (
    <Fold label={t('pageNotes')}>
      {() => (
        <ul className="jp-mlgpu-Figure-notes">
          {notes.map((note, index) => (
            <li key={index}>
              <Prose text={t.say(note)} />
            </li>
          ))}
        </ul>
      )}
    </Fold>
  );
}

function isSentence(part: IPart): part is Sentence {
  return typeof part === 'string' || 'template' in part;
}
