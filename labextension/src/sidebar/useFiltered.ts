/** A hook that filters the log in slices, so that many lines do not block the page. */

import { useEffect, useMemo, useState } from 'react';

import { filterSections, type ILogFilter, type LogRows, type LogSection } from '../record/logrows';
import type { Messages } from '../language/explain';
import { nextTask, sliceEnd } from '../record/slices';

/** Return the filtered lines. While the filter runs, the previous result; null before the first one. */
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
    const filterRest = async (): Promise<void> => {
      let now = found;
      while (now === null && wanted) {
        await nextTask();
        now = filterSections(sections, filter, messages, sliceEnd());
      }
      if (now !== null && wanted) {
        setLast(now);
      }
    };
    void filterRest();
    return () => {
      wanted = false;
    };
  }, [found, sections, filter, messages]);
  return found ?? last;
}
