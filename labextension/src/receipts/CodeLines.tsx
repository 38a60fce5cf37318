/** The sampled lines of code, each with a bar for its share of the samples; the interval is on hover. */

import type { ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import { barWidth, formatShare } from '../record/format';
import type { ISampledLine, IOpenReceipt } from '../record/openreceipt';
import type { IRecord } from '../record/record';
import type { ILineFinder } from './providers';
import { TableView } from '../page/TableView';

export function CodeLines(props: {
  record: IRecord;
  receipt: IOpenReceipt;
  /** Finds the lines in the notebook; null if there is none. */
  finder: ILineFinder | null;
  t: Translate;
}): ReactElement | null {
  const { record, receipt, finder, t } = props;
  const { lines, sampledLines } = receipt;
  return (
    lines && (
      <div className="jp-mlgpu-HotLines">
        <TableView
          table={lines}
          decorated={(row, place, text) => {
            const line = sampledLines[row];
            return line === undefined || place > 1 ? (
              text
            ) : place === 0 ? (
              <Place record={record} line={line} name={text} finder={finder} t={t} />
            ) : (
              <span title={interval(line, t)}>
                <Bar line={line} />
                {text}
              </span>
            );
          }}
          t={t}
        />
      </div>
    )
  );
}

/** A button that leads to a line, and its code, if the notebook has its cell. */
function Place(props: {
  record: IRecord;
  line: ISampledLine;
  name: string;
  finder: ILineFinder | null;
  t: Translate;
}): ReactElement {
  const { record, line, name, finder, t } = props;
  const place = finder?.findLine(record, line);
  if (!place) {
    return <>{name}</>;
  }
  return (
    <>
      <button
        type="button"
        className="jp-mlgpu-TextButton"
        title={t('goToLine')}
        onClick={place.open}
      >
        {name}
      </button>{' '}
      {place.code === null ? (
        <span className="jp-mlgpu-Quiet">{t('lineChanged')}</span>
      ) : (
        <code>{place.code.trim()}</code>
      )}
    </>
  );
}

function Bar(props: { line: ISampledLine }): ReactElement {
  return (
    <span className="jp-mlgpu-HotLine-bar" aria-hidden="true">
      <span style={{ width: `${barWidth(props.line.share, 1)}%` }} />
    </span>
  );
}

function interval({ low, high }: ISampledLine, t: Translate): string {
  return t('interval', { low: formatShare(low), high: formatShare(high) });
}
