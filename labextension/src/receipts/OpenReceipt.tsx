/**
 * An open receipt, in the words of jupyter_mlgpu/show/receipts/page.py. The strip's legend, messages and
 * links into the notebook are added here.
 */

import { Suspense, lazy, type ReactElement, type ReactNode } from 'react';

import type { Translate } from '../language/i18n';
import { commandsIn } from '../language/prose';
import type { Sentence } from '../language/sentence';
import { TableView } from '../page/TableView';
import type { ITable } from '../page/pagetypes';
import { isToActOn } from '../record/logs';
import type { IOpenReceipt } from '../record/openreceipt';
import type { IRecord } from '../record/record';
import { lanesOf } from '../record/strip';
import { CodeLines } from './CodeLines';
import { Button } from './controls';
import { Fold } from './Fold';
import { LineToCopy } from './LineToCopy';
import { LogNotes } from './LogNotes';
import { Prose } from './Prose';
import { StripLegend } from './Strip';
import type { ILineFinder } from './providers';

// Loaded on demand, because few cells have a chart.
const ChartView = lazy(async () => ({ default: (await import('../page/ChartView.js')).ChartView }));

export function OpenReceipt(props: {
  record: IRecord;
  receipt: IOpenReceipt;
  /** Finds lines of code in the notebook; null if there is none. */
  finder: ILineFinder | null;
  /** Opens the page of its cell; null if there is none. */
  onPage?: (() => void) | null;
  /** Replaces the tables of operations. */
  operations?: ReactNode;
  t: Translate;
}): ReactElement {
  const { record, receipt, finder, onPage = null, t } = props;
  const { operations = receipt.operations.map(table) } = props;
  const toActOn = record.logs.filter(({ verdict }) => isToActOn(verdict));
  const others = record.logs.filter(({ verdict }) => !isToActOn(verdict));
  const lanes = lanesOf(record);
  function table(one: ITable, index: number): ReactElement {
    return <TableView key={index} table={one} t={t} />;
  }
  const isAnswered = receipt.answer !== '' || receipt.profiled !== '' || toActOn.length > 0;
  return (
    <>
      {lanes.length > 0 && <StripLegend record={record} lanes={lanes} t={t} />}
      {onPage !== null && lanes.length > 0 && <Button label={t('stripLarger')} onClick={onPage} />}
      <Answer receipt={receipt} t={t} />
      <CodeLines record={record} receipt={receipt} finder={finder} t={t} />
      {receipt.roof && (
        <Suspense>
          <ChartView chart={receipt.roof} above={new Set()} t={t} />
        </Suspense>
      )}
      {receipt.underRoof && table(receipt.underRoof, 0)}
      <Lines of={receipt.profiled === '' ? [] : [receipt.profiled]} t={t} />
      {operations}
      <LogNotes record={record} lines={toActOn} t={t} />
      {receipt.evidence && <Evidence receipt={receipt} evidence={receipt.evidence} t={t} />}
      {receipt.places.length + receipt.work.length > 0 && (
        <Fold label={t.say(receipt.whereTitle)}>
          {() => (
            <>
              <Lines of={receipt.places} t={t} />
              {receipt.work.map(table)}
            </>
          )}
        </Fold>
      )}
      {others.length > 0 && (
        <Fold label={t.say(receipt.messagesTitle) || t('logs')}>
          {() => <LogNotes record={record} lines={others} t={t} />}
        </Fold>
      )}
      <Fold label={t.say(receipt.measuredTitle)} initially={!isAnswered}>
        {() => (
          <>
            <Measured {...{ record, receipt, t }} />
            <Lines of={receipt.leftOut} t={t} />
          </>
        )}
      </Fold>
      {receipt.missing.length > 0 && (
        <Fold label={t.say(receipt.missingTitle)}>
          {() => <Lines of={receipt.missing} t={t} />}
        </Fold>
      )}
    </>
  );
}

function Lines(props: { of: readonly Sentence[]; t: Translate }): ReactElement {
  return (
    <>
      {props.of.map((one, index) => (
        <p key={index}>
          <Prose text={props.t.say(one)} />
        </p>
      ))}
    </>
  );
}

/** The limit of the cell and the advice, with its commands as lines to copy. */
function Answer(props: { receipt: IOpenReceipt; t: Translate }): ReactElement | null {
  const { receipt, t } = props;
  const [answer, advice] = [t.say(receipt.answer), t.say(receipt.advice)];
  if (answer === '') {
    return null;
  }
  return (
    <div role="group" className="jp-mlgpu-Limit" aria-label={t('limit')}>
      <p className="jp-mlgpu-Limit-answer">{answer}</p>
      {advice && (
        <p>
          <Prose text={advice} />
        </p>
      )}
      {commandsIn(advice).map(command => (
        <LineToCopy key={command} text={command} t={t} />
      ))}
    </div>
  );
}

/** Why the answer is not certain, and the readings behind it. */
function Evidence(props: { receipt: IOpenReceipt; evidence: ITable; t: Translate }): ReactElement {
  const { receipt, evidence, t } = props;
  const title = t.say(evidence.summary);
  return (
    <Fold label={title}>
      {() => (
        <>
          <Lines of={receipt.doubt === '' ? [] : [receipt.doubt]} t={t} />
          <TableView table={evidence} foldedUnder={title} t={t} />
        </>
      )}
    </Fold>
  );
}

/** All readings with their sources, other facts, and the run that they belong to. */
function Measured(props: { record: IRecord; receipt: IOpenReceipt; t: Translate }): ReactElement {
  const { record, receipt, t } = props;
  const started = new Date(record.startedAt);
  return (
    <>
      {receipt.measured && <TableView table={receipt.measured} foldedUnder={t('readings')} t={t} />}
      {receipt.facts && <TableView table={receipt.facts} foldedUnder={t('facts')} t={t} />}
      <div className="jp-mlgpu-Details">
        <dl>
          {!Number.isNaN(started.getTime()) && (
            <Term name={t('started')} text={started.toLocaleString()} />
          )}
          {record.notebook && <Term name={t('notebook')} text={record.notebook} />}
          {receipt.versions !== '' && <Term name={t('versions')} text={t.say(receipt.versions)} />}
        </dl>
      </div>
    </>
  );
}

function Term(props: { name: string; text: string }): ReactElement {
  return (
    <>
      <dt>{props.name}</dt>
      <dd>{props.text}</dd>
    </>
  );
}
