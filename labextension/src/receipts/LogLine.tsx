/** The parts of a log line as a student reads it: the verdict, what it means, and how it was printed. */

import type { ReactElement } from 'react';

import { explain } from '../language/explain';
import type { Translate } from '../language/i18n';
import { TEXT_LIMIT, type ILogLine } from '../record/logs';
import { Verdict } from './Verdict';
import { Prose } from './Prose';

/** The verdict, how often the line came, and whether it was late. */
export function Marks(props: { line: ILogLine; t: Translate }): ReactElement {
  const { line, t } = props;
  return (
    <span className="jp-mlgpu-Marks">
      <Verdict verdict={line.verdict} t={t} />
      {line.count > 1 && (
        <span className="jp-mlgpu-Times">{t('times', { count: line.count })}</span>
      )}
      {line.late && <span className="jp-mlgpu-Label">{t('late')}</span>}
    </span>
  );
}

/** What the line means and what to do, or that neither is known. */
export function Explained(props: { line: ILogLine; t: Translate }): ReactElement {
  const { line, t } = props;
  const { meaning, advice } = explain(line, t.messages);
  return (
    <>
      <p className="jp-mlgpu-Meaning">
        <Prose text={meaning ?? t('notKnownLine')} />
      </p>
      {advice !== null && (
        <p className="jp-mlgpu-Advice">
          <Prose text={advice} />
        </p>
      )}
    </>
  );
}

/** Characters from which on a line may be higher than its place, which the keyboard then has to reach. */
const MAY_SCROLL = 300;

/** The line as it was printed: text, whatever it looks like. */
export function RawLine(props: { line: ILogLine; t: Translate }): ReactElement {
  const { line, t } = props;
  return (
    <>
      <pre className="jp-mlgpu-Raw" tabIndex={line.text.length > MAY_SCROLL ? 0 : undefined}>
        {line.text}
      </pre>
      {line.length > TEXT_LIMIT && (
        <p className="jp-mlgpu-Quiet">
          {t('lineCut', {
            shown: TEXT_LIMIT,
            length: line.length
          })}
        </p>
      )}
    </>
  );
}
