/** Sorting a table by the column that was clicked; grouping; searching what is sorted. */

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

/** The items by their keys, which come in the order of their first items. */
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

/** The first number from which on a condition holds, `end` where there is none; it must hold for all that follow. */
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
