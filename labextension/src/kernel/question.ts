/** Requests to a kernel over the control channel, which answers while a cell runs. */

import { KernelMessage, type Kernel } from '@jupyterlab/services';

/** Milliseconds to wait for an answer. */
export const TIMEOUT = 5_000;

export class NoAnswer extends Error {}

/** Resolve once the connection is open. A message sent earlier would wait for the running cell. */
export function connected(kernel: Kernel.IKernelConnection): Promise<void> {
  return withTimeout((resolve, reject) => {
    const check = (): void => {
      if (kernel.isDisposed) {
        reject(new NoAnswer('The connection was closed.'));
      } else if (kernel.connectionStatus === 'connected') {
        resolve();
      }
    };
    kernel.connectionStatusChanged.connect(check);
    check();
  });
}

/** Send a request on the control channel; resolves with the content of its reply. */
export function request(
  kernel: Kernel.IKernelConnection,
  msgType: string,
  content: object
): Promise<Record<string, unknown>> {
  const message = KernelMessage.createMessage({
    channel: 'control',
    content,
    msgType,
    session: kernel.clientId
  } as KernelMessage.IOptions<KernelMessage.IDebugRequestMsg>);
  return withTimeout((resolve, reject) => {
    const future = kernel.sendControlMessage(message, true);
    // The reply is enough. The future itself ends only with an idle status on another channel.
    future.onReply = reply => resolve(reply.content as unknown as Record<string, unknown>);
    future.done.catch(() => reject(new NoAnswer('The connection was closed.')));
  });
}

/** Return a promise that rejects with NoAnswer after TIMEOUT milliseconds. */
function withTimeout<T>(
  start: (resolve: (value: T) => void, reject: (error: Error) => void) => void
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new NoAnswer('No answer in time.')), TIMEOUT);
    const end =
      <V>(settle: (value: V) => void) =>
      (value: V): void => {
        clearTimeout(timer);
        settle(value);
      };
    start(end(resolve), end(reject));
  });
}
