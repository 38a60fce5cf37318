/** A table with only its visible rows in the page, which column heads can sort. */

import type { ReactElement, ReactNode } from 'react';

import type { ISort } from '../../record/sorting';
import { useWindow } from '../useWindow';

/** Estimated height of a row in pixels. */
const ROW_HEIGHT = 24;

export interface IColumn<T extends string> {
  id: T;
  label: string;
  /** True to align the column to the right. */
  figures: boolean;
}

export function WindowedTable<T extends string>(props: {
  label: string;
  columns: readonly IColumn<T>[];
  count: number;
  cell: (row: number, column: T) => ReactNode;
  /** Full text of the first cell, which may be cut. */
  title?: (row: number) => string;
  sort?: ISort<T>;
  onSort?: (column: T) => void;
}): ReactElement {
  const { label, columns, count, cell, title, sort, onSort } = props;
  const { rows, range, scroller } = useWindow(count, String, ROW_HEIGHT);
  const { first, end } = range;
  const items = Array.from({ length: end - first }, (_, place) => first + place);
  const above = rows.start(first);
  const below = rows.total - rows.start(end);
  return (
    <div
      {...scroller.props}
      className="jp-mlgpu-TableScroller"
      role="group"
      aria-label={label}
      tabIndex={0}
    >
      <table aria-label={label} aria-rowcount={count + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(column => (
              <Head key={column.id} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {above > 0 && <Space height={above} columns={columns.length} />}
          {items.map(index => (
            <tr key={index} data-index={index} aria-rowindex={index + 2}>
              {columns.map((column, place) =>
                place > 0 ? (
                  <td key={column.id} data-figures={column.figures}>
                    {cell(index, column.id)}
                  </td>
                ) : (
                  <th key={column.id} scope="row" title={title?.(index)}>
                    {cell(index, column.id)}
                  </th>
                )
              )}
            </tr>
          ))}
          {below > 0 && <Space height={below} columns={columns.length} />}
        </tbody>
      </table>
    </div>
  );
}

function Head<T extends string>(props: {
  column: IColumn<T>;
  sort: ISort<T> | undefined;
  onSort: ((column: T) => void) | undefined;
}): ReactElement {
  const { column, sort, onSort } = props;
  const { id, label, figures } = column;
  if (sort === undefined || onSort === undefined) {
    return (
      <th scope="col" data-figures={figures}>
        {label}
      </th>
    );
  }
  const own = sort.column === id;
  return (
    <th
      scope="col"
      data-figures={figures}
      aria-sort={own ? (sort.descending ? 'descending' : 'ascending') : 'none'}
    >
      <button type="button" className="jp-mlgpu-SortButton" onClick={() => onSort(id)}>
        {label}
        <span aria-hidden="true">{own ? (sort.descending ? ' ▾' : ' ▴') : ''}</span>
      </button>
    </th>
  );
}

/** An empty row in place of the rows that are not in the page. */
function Space(props: { height: number; columns: number }): ReactElement {
  return (
    <tr aria-hidden="true" className="jp-mlgpu-TableSpace">
      <td colSpan={props.columns} style={{ height: props.height }} />
    </tr>
  );
}
