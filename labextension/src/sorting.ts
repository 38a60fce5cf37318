/** Sorting a table by the column that was clicked. */

export interface ISort<T extends string> {
  column: T;
  descending: boolean;
}

/** The sort after a click on a column's head: turned around, or the way in which that column is first read. */
export function sortedBy<T extends string>(
  sort: ISort<T>,
  column: T,
  descendingFirst: boolean
): ISort<T> {
  return sort.column === column
    ? { column, descending: !sort.descending }
    : { column, descending: descendingFirst };
}

/** The rows in order; unknown values come last either way, and equal ones keep their order. */
export function inOrder<T extends string, R extends Record<T, string | number | null>>(
  rows: readonly R[],
  { column, descending }: ISort<T>
): R[] {
  const sign = descending ? -1 : 1;
  return [...rows].sort((one, other) => {
    const [a, b] = [one[column], other[column]];
    if (a === null || b === null) {
      return Number(a === null) - Number(b === null);
    }
    return typeof a === 'string' || typeof b === 'string'
      ? sign * String(a).localeCompare(String(b))
      : sign * (a - b);
  });
}
