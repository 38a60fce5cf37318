/**
 * Passes a trace to Perfetto's page in another tab, as Perfetto documents it
 * (https://perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui): send PING until it answers PONG,
 * then send the trace. The trace goes from tab to tab, without a server.
 */

export const PERFETTO = 'https://ui.perfetto.dev';

/** Milliseconds between two PINGs, and until the attempt is given up. */
const AGAIN = 200;
const TIMEOUT = 60_000;

/** The used part of the other tab's Window. */
export interface IPage {
  readonly closed: boolean;
  postMessage(message: unknown, origin: string): void;
}

/** The used part of this Window. */
export type IMessageTarget = Pick<EventTarget, 'addEventListener' | 'removeEventListener'>;

export interface ITrace {
  title: string;
  fileName: string;
  text: string;
}

/** Resolve with true if the page took the trace, with false if it was closed or never answered. */
export function sendTrace(page: IPage, trace: ITrace, here: IMessageTarget): Promise<boolean> {
  return new Promise(resolve => {
    const end = (accepted: boolean): void => {
      clearInterval(timer);
      clearTimeout(last);
      here.removeEventListener('message', onMessage);
      resolve(accepted);
    };
    const onMessage = (event: Event): void => {
      const { source, origin, data } = event as MessageEvent<unknown>;
      if ((source as unknown) === page && origin === PERFETTO && data === 'PONG') {
        const { title, fileName, text } = trace;
        const bytes = new TextEncoder().encode(text);
        // A copy of the used part, because the buffer may be larger than the text.
        const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
        page.postMessage({ perfetto: { buffer, title, fileName } }, PERFETTO);
        end(true);
      }
    };
    const ping = (): void => {
      if (page.closed) {
        end(false);
      } else {
        page.postMessage('PING', PERFETTO);
      }
    };
    here.addEventListener('message', onMessage);
    const timer = setInterval(ping, AGAIN);
    const last = setTimeout(() => end(false), TIMEOUT);
  });
}
