/** The figure of a record in a list. */

import { figureOf, type Sort } from './cellrows';
import { formatBytes, formatSeconds, formatValue } from './format';
import type { IRecord } from './record';
import type { Translate } from '../language/i18n';
import { known } from './words';

/** Format a figure by the sort order: `3.42 s`, `700 MiB`, `40 J`. */
export function formatFigure(value: number, sort: Sort): string {
  switch (sort) {
    case 'memory':
      return formatBytes(value);
    case 'energy':
      return formatValue(value, 'J');
    default:
      return formatSeconds(value);
  }
}

/**
 * Return the figure by which a record is sorted, or that it was not measured. The wall time of a profiled run
 * does not count, and a checked run has none.
 */
export function figureInWords(record: IRecord, sort: Sort, t: Translate): string {
  const value = figureOf(record, sort);
  if (value !== null) {
    return formatFigure(value, sort);
  }
  if (record.mode === 'checked') {
    return t('checkedRow');
  }
  const wall = known(record, 'wall_time');
  const timed = sort !== 'device' && sort !== 'memory' && sort !== 'energy';
  return t(timed && wall && record.mode === 'profiled' ? 'profiledRow' : 'notMeasured');
}
