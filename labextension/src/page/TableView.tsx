/** A table of a page, which scrolls sideways where it is too wide. */

import type { ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import type { ITable } from './pagetypes';
import { Table } from '../receipts/Table';

export function TableView(props: {
  table: ITable;
  /** What stands above it already, and is not said again. */
  foldedUnder?: string;
  t: Translate;
}): ReactElement {
  const { table, foldedUnder = '', t } = props;
  const said = t.say(table.caption);
  const caption = said === foldedUnder ? '' : said;
  const label = caption || foldedUnder || t('pageTable');
  const below = t.say(table.below);
  return (
    <>
      <div
        className="jp-mlgpu-Details jp-mlgpu-Figure-wide"
        role="group"
        aria-label={label}
        tabIndex={0}
      >
        <Table
          caption={caption === '' ? undefined : <caption>{caption}</caption>}
          label={caption === '' ? label : undefined}
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
