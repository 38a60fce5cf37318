/** What may wait, in a view that has much to draw when it appears. */

import { useEffect, useState } from 'react';

import { breath } from '../record/slices';

/** False in the task in which the component appears, and true from the next one on. */
export function useLater(): boolean {
  const [later, setLater] = useState(false);
  useEffect(() => {
    void breath().then(() => setLater(true));
  }, []);
  return later;
}
