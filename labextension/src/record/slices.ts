/**
 * Long work in slices, so that the page answers the user between them.
 */

/** Milliseconds of work after which the page gets its turn; a task of 50 ms is felt. */
const SLICE = 5;

/** When the slice that begins now should end, on the clock of `performance.now`. */
export function sliceEnd(): number {
  return performance.now() + SLICE;
}

/** Resolves in a task of its own, behind whatever the page has to do now. Unlike timers, not late in it. */
export function breath(): Promise<void> {
  return new Promise(resolve => soon(resolve));
}

/** The function, called in a task of its own; once for all calls until then, and once a frame where that is asked. */
export function coalesced(call: () => void, onceAFrame = false): () => void {
  let waiting = false;
  const inTask = (): void =>
    soon(() => {
      waiting = false;
      call();
    });
  return () => {
    if (!waiting) {
      waiting = true;
      if (onceAFrame) {
        requestAnimationFrame(inTask);
      } else {
        inTask();
      }
    }
  };
}

function soon(call: () => void): void {
  waiting.push(call);
  channel.port2.postMessage(null);
}

const waiting: (() => void)[] = [];
const channel = new MessageChannel();
channel.port1.onmessage = () => waiting.shift()?.();
