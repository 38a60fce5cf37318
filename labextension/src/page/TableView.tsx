/** A table of a page, which scrolls sideways where it is too wide. */

import type { ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import type { ITable } from './pagetypes';
import { Table } from '../receipts/Table';

export function TableView(props: { table: ITable; t: Translate }): ReactElement {
  const { table, t } = props;
  const caption = t.say(table.caption);
  const below = t.say(table.below);
  return (
    <>
      <div
        className="jp-mlgpu-Details jp-mlgpu-Figure-wide"
        role="group"
        aria-label={caption || t('pageTable')}
        tabIndex={0}
      >
        <Table
          caption={caption === '' ? undefined : <caption>{caption}</caption>}
          heads={table.columns.map(t.say)}
        >
          {table.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, place) =>
                place === 0 ? (
                  <th key={place} scope="row">
                    {t.say(cell)}
                  </th>
                ) : (
                  <td key={place} data-figure={table.figures.includes(place) || undefined}>
                    {t.say(cell)}
                  </td>
                )
              )}
            </tr>
          ))}
        </Table>
      </div>
      {below !== '' && <p className="jp-mlgpu-Quiet">{below}</p>}
    </>
  );
}
