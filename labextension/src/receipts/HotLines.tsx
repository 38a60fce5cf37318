/**
 * The lines of code at which a cell was seen, with a bar each: the filled part is the line's share of the samples,
 * the bracket above it the interval in which that lies. The words beside it say the same.
 */

import type { ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import { barWidth } from '../record/format';
import { lineName, lineShare } from '../record/limits';
import type { IHotLine } from '../record/limits';
import type { IRecord } from '../record/record';
import type { ILineFinder } from './linedoor';
import { Table } from './Table';

export function HotLines(props: {
  record: IRecord;
  /** Finds them in the notebook; null where there is none. */
  finder: ILineFinder | null;
  t: Translate;
}): ReactElement | null {
  const { record, finder, t } = props;
  if (record.lines.length === 0) {
    return null;
  }
  return (
    <div className="jp-mlgpu-Details jp-mlgpu-HotLines">
      <Table
        caption={<caption>{t('hotLines')}</caption>}
        heads={[t('lineColumn'), t('samples_share')]}
      >
        {record.lines.map((line, index) => (
          <tr key={index}>
            <th scope="row">
              <Place record={record} line={line} finder={finder} t={t} />
            </th>
            <td>
              <Bar line={line} />
              {lineShare(line, t)}
              {line.calls && (
                <div>
                  {t('calledMost')} <code>{line.calls}</code>
                </div>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </div>
  );
}

/** Where a line stands: a button that leads there, and the line itself, where the notebook has its cell. */
function Place(props: {
  record: IRecord;
  line: IHotLine;
  finder: ILineFinder | null;
  t: Translate;
}): ReactElement {
  const { record, line, finder, t } = props;
  const name = lineName(line, t);
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

function Bar(props: { line: IHotLine }): ReactElement {
  const { share, low, high } = props.line;
  const interval = { left: `${barWidth(low, 1)}%`, right: `${100 - barWidth(high, 1)}%` };
  return (
    <span className="jp-mlgpu-HotLine-bar" aria-hidden="true">
      <span style={{ width: `${barWidth(share, 1)}%` }} />
      <span style={interval} />
    </span>
  );
}
