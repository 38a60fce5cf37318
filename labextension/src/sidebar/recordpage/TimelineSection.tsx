/** The timeline of a profiled cell, opened in Perfetto or saved; else why there is none. */

import { useState, type ReactElement } from 'react';

import type { Translate } from '../../language/i18n';
import { sentence, whyOf } from '../../language/sentence';
import { FEW, list } from '../../language/untrusted';
import type { NotebookSession } from '../../kernel/notebooks';
import { PERFETTO, sendTrace } from '../../lab/perfetto';
import { Button } from '../../receipts/controls';
import { fileName } from '../../record/receipttext';
import type { IRecord } from '../../record/record';
import { saveFile } from './savefile';
import type { RecordPage } from './useRecordPage';

interface ITimelineSection {
  page: RecordPage;
  record: IRecord;
  session: NotebookSession;
  t: Translate;
}

export function TimelineSection(props: ITimelineSection): ReactElement {
  const { page, t } = props;
  if (page.state === 'asking') {
    return (
      <p className="jp-mlgpu-Quiet" role="status">
        {t('kernel_asking')}
      </p>
    );
  }
  if (page.state === 'failed') {
    return <p className="jp-mlgpu-Quiet">{t('timelineFailed', { why: t.say(page.why) })}</p>;
  }
  const { timeline } = page.details;
  return timeline === 'kept' ? (
    <Trace {...props} />
  ) : (
    <p className="jp-mlgpu-Quiet">{t(`timeline_${timeline}`)}</p>
  );
}

/** A trace for Perfetto, and sentences on what it leaves out. */
interface ITrace {
  text: string;
  leftOut: string;
}

function Trace(props: ITimelineSection): ReactElement {
  const { record, session, t } = props;
  const [status, setStatus] = useState('');
  const name = fileName(record, '-timeline.json');

  const trace = async (): Promise<ITrace> => {
    const key = { run: record.runId, sequence: record.cell.sequence };
    const answer = await session.request('inside_trace', key);
    const text = typeof answer.trace === 'string' ? answer.trace : '';
    return { text, leftOut: list(answer.left_out, FEW, sentence).map(t.say).join(' ') };
  };
  const save = async (): Promise<void> => {
    try {
      const { text, leftOut } = await trace();
      saveFile(name, text);
      setStatus(`${t('savedAs', { name })} ${leftOut}`);
    } catch (error) {
      setStatus(t('saveFailed', { why: t.say(whyOf(error)) }));
    }
  };
  const openInPerfetto = async (): Promise<void> => {
    // Browsers allow a new tab only within the click.
    const page = window.open(PERFETTO);
    if (page === null) {
      setStatus(t('perfettoBlocked'));
      return;
    }
    setStatus(t('perfettoOpening'));
    try {
      const { text, leftOut } = await trace();
      const title = record.cell.name || fileName(record, '');
      const accepted = await sendTrace(page, { title, fileName: name, text }, window);
      setStatus(accepted ? `${t('perfettoTaken')} ${leftOut}` : t('perfettoSilent'));
    } catch (error) {
      page.close();
      setStatus(t('perfettoFailed', { why: t.say(whyOf(error)) }));
    }
  };

  return (
    <div className="jp-mlgpu-Page-actions">
      <Button variant="Chip" label={t('openInPerfetto')} onClick={() => void openInPerfetto()} />
      <Button variant="Chip" label={t('saveTrace')} onClick={() => void save()} />
      <p className="jp-mlgpu-Quiet">{t('perfettoNote')}</p>
      <p role="status" className="jp-mlgpu-Quiet">
        {status}
      </p>
    </div>
  );
}
