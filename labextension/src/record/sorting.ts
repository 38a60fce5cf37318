/** Sorting, grouping and searching of tables. */

export interface ISort<T extends string> {
  column: T;
  descending: boolean;
}

/** Return the sort order after a click on a column: reversed, or the column's first direction. */
export function sortedBy<T extends string>(
  sort: ISort<T>,
  column: T,
  descendingFirst: boolean
): ISort<T> {
  return sort.column === column
    ? { column, descending: !sort.descending }
    : { column, descending: descendingFirst };
}

/** Return the rows in order. Unknown values come last in both directions, and the sort is stable. */
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

/** Return the items by their keys, in the order of the first item of each. */
export function grouped<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const members = groups.get(key);
    if (members) {
      members.push(item);
    } else {
      groups.set(key, [item]);
    }
  }
  return groups;
}

/** Return the first index for which a monotone condition holds; `end` if there is none. */
export function firstWhere(start: number, end: number, holds: (index: number) => boolean): number {
  let [low, high] = [start, end];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}
