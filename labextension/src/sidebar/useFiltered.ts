/** What a filter leaves of the log, found in slices: with many lines that takes longer than a page may stand still. */

import { useEffect, useMemo, useState } from 'react';

import { filterSections, type ILogFilter, type LogRows, type LogSection } from '../record/logrows';
import type { Messages } from '../language/explain';
import { breath, sliceEnd } from '../record/slices';

/** The newest that is known: while lines are looked at, what was left before; null before the first answer. */
export function useFiltered(
  sections: readonly LogSection[],
  filter: ILogFilter,
  messages: Messages | null
): LogRows | null {
  const [last, setLast] = useState<LogRows | null>(null);
  const found = useMemo(
    () => filterSections(sections, filter, messages, sliceEnd()),
    [sections, filter, messages]
  );
  useEffect(() => {
    let wanted = true;
    const look = async (): Promise<void> => {
      let now = found;
      while (now === null && wanted) {
        await breath();
        now = filterSections(sections, filter, messages, sliceEnd());
      }
      if (now !== null && wanted) {
        setLast(now);
      }
    };
    void look();
    return () => {
      wanted = false;
    };
  }, [found, sections, filter, messages]);
  return found ?? last;
}
