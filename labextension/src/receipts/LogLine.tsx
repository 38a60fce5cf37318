/** The parts of a log line: its verdict, its explanation, and its raw text. */

import type { ReactElement } from 'react';

import { explain } from '../language/explain';
import type { Translate } from '../language/i18n';
import { TEXT_LIMIT, type ILogLine } from '../record/logs';
import { Verdict } from './Verdict';
import { Prose } from './Prose';

/** The verdict, the number of repetitions, and a label if the line was late. */
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

/** The line's meaning and advice, or a sentence that it is not known. */
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

/** Number of characters from which a line may need scrolling, for which the keyboard has to reach it. */
const MAY_SCROLL = 300;

/** The line as plain text, exactly as it was printed. */
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
