/**
 * A page whose clock stands still until it is looked at, and which counts its tasks, for tests of work in slices.
 *
 * To be imported before what it tests: `slices` opens its channel when it is loaded.
 */

/** Milliseconds that pass with each look at the clock. */
const A_LOOK = 1;

let now = 0;

/** Tasks that were asked for, in which the page could answer its user. */
export let tasks = 0;

performance.now = () => (now += A_LOOK);

/** A channel that keeps no process alive, as Node's own does. */
class CountingChannel {
  readonly port1: { onmessage: (() => void) | null } = { onmessage: null };
  readonly port2 = {
    postMessage: (): void => {
      tasks += 1;
      setImmediate(() => this.port1.onmessage?.());
    }
  };
}

Object.assign(globalThis, { MessageChannel: CountingChannel });
