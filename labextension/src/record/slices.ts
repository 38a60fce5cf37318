/** Splits long work into slices, between which the page answers the user. */

/** Milliseconds of work in a slice; users notice a task of 50 ms. */
const SLICE = 5;

/** Return the end of a slice that begins now, on the clock of `performance.now`. */
export function sliceEnd(): number {
  return performance.now() + SLICE;
}

/** Resolve in a new task, after the page's pending work. Unlike timers it is not delayed further. */
export function nextTask(): Promise<void> {
  return new Promise(resolve => soon(resolve));
}

/**
 * Return a function that runs `call` in a new task, once for all calls until then. With `onceAFrame` it runs
 * at most once a frame.
 */
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
