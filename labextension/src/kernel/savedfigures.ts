/** Plans, races, benchmarks and collections of engines in a notebook's outputs, for the sidebar. */

import { PAGE_TYPE, readPage, type IPage } from '../page/page';
import { object } from '../language/untrusted';

export interface IFigure {
  /** Unique among the notebook's outputs. */
  key: string;
  cellId: string;
  executionCount: number | null;
  page: IPage;
}

/** Read the figure in an output. The same data give the same object. */
export function figureOf(
  bundle: Record<string, unknown>,
  place: Omit<IFigure, 'page'>
): IFigure | null {
  const data = object(bundle[PAGE_TYPE]);
  if (data === null) {
    return null;
  }
  const before = known.get(data);
  if (before?.key === place.key && before.executionCount === place.executionCount) {
    return before;
  }
  const page = readPage(data);
  if (typeof page === 'string') {
    return null;
  }
  const figure = { ...place, page };
  known.set(data, figure);
  return figure;
}

const known = new WeakMap<object, IFigure>();
