/**
 * Handing a trace to Perfetto's page in another tab of the same browser, as Perfetto documents it
 * (https://perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui): say PING until it says PONG, then
 * send the trace. It goes from tab to tab, and to nobody else.
 */

export const PERFETTO = 'https://ui.perfetto.dev';

/** Milliseconds between two calls, and after which nobody is taken to answer. */
const AGAIN = 200;
const PATIENCE = 60_000;

/** Of the other tab, what is used of it. */
export interface IPage {
  readonly closed: boolean;
  postMessage(message: unknown, origin: string): void;
}

/** Of our own window, what is used of it. */
export type Hears = Pick<EventTarget, 'addEventListener' | 'removeEventListener'>;

export interface ITrace {
  title: string;
  fileName: string;
  text: string;
}

/** Resolves with whether the page took the trace; it does not where it is closed or never answers. */
export function handOver(page: IPage, trace: ITrace, here: Hears): Promise<boolean> {
  return new Promise(resolve => {
    const end = (taken: boolean): void => {
      clearInterval(timer);
      clearTimeout(last);
      here.removeEventListener('message', hear);
      resolve(taken);
    };
    const hear = (event: Event): void => {
      const { source, origin, data } = event as MessageEvent<unknown>;
      if ((source as unknown) === page && origin === PERFETTO && data === 'PONG') {
        const { title, fileName, text } = trace;
        const bytes = new TextEncoder().encode(text);
        // The bytes alone: they may stand in a larger buffer.
        const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
        page.postMessage({ perfetto: { buffer, title, fileName } }, PERFETTO);
        end(true);
      }
    };
    const call = (): void => {
      if (page.closed) {
        end(false);
      } else {
        page.postMessage('PING', PERFETTO);
      }
    };
    here.addEventListener('message', hear);
    const timer = setInterval(call, AGAIN);
    const last = setTimeout(() => end(false), PATIENCE);
  });
}
