/** A hook that redraws a view as something gets older. */

import { useEffect, useState } from 'react';

/** Milliseconds between two ticks, and for users who prefer reduced motion. */
const TICK = 200;
const SLOW_TICK = 1000;

/** Return the milliseconds since a time on this browser's monotonic clock. */
export function useAge(since: number): number {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    const slow = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
    const tick = (): void => setNow(performance.now());
    tick();
    const timer = setInterval(tick, slow ? SLOW_TICK : TICK);
    return () => clearInterval(timer);
  }, [since]);
  return Math.max(0, now - since);
}
