/** A table of a page, which scrolls horizontally if it is too wide. */

import type { ReactElement, ReactNode } from 'react';

import type { Translate } from '../language/i18n';
import type { ITable } from './pagetypes';
import { Table } from '../receipts/Table';
import { Prose } from '../receipts/Prose';
import { plain } from '../language/prose';

export function TableView(props: {
  table: ITable;
  /** Heading above the table, which is not repeated as its caption. */
  foldedUnder?: string;
  /** Renders the text of a cell differently. */
  decorated?: (row: number, place: number, said: string) => ReactNode;
  t: Translate;
}): ReactElement {
  const { table, foldedUnder = '', decorated = prose, t } = props;
  const said = t.say(table.caption);
  const caption = said === foldedUnder ? '' : said;
  const label = caption || foldedUnder || t('pageTable');
  const below = t.say(table.below);
  return (
    <>
      <div
        className="jp-mlgpu-Details jp-mlgpu-Figure-wide"
        role="group"
        aria-label={plain(label)}
        tabIndex={0}
      >
        <Table
          caption={
            caption === '' ? undefined : (
              <caption>
                <Prose text={caption} />
              </caption>
            )
          }
          label={caption === '' ? plain(label) : undefined}
          heads={table.columns.map(t.say)}
        >
          {table.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, place) =>
                place === 0 ? (
                  <th key={place} scope="row">
                    {decorated(index, place, t.say(cell))}
                  </th>
                ) : (
                  <td
                    key={place}
                    data-figure={
                      table.figures.includes(place) || isNumber(t.say(cell)) || undefined
                    }
                  >
                    {decorated(index, place, t.say(cell))}
                  </td>
                )
              )}
            </tr>
          ))}
        </Table>
      </div>
      {below !== '' && (
        <p className="jp-mlgpu-Quiet">
          <Prose text={below} />
        </p>
      )}
    </>
  );
}

function prose(_row: number, place: number, said: string): ReactNode {
  return place === 0 ? said : <Prose text={said} />;
}

/** Return true for a number with its unit and spread: `615/µs`, `1 µs (960 ns to 1.04 µs)`. */
function isNumber(text: string): boolean {
  return /^[-+±]?\d/.test(text) && text.length <= LONGEST;
}

/** Largest number of characters of a number; a longer text is a sentence that begins with one. */
const LONGEST = 32;
