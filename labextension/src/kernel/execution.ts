/** Detects that a kernel runs a cell of any page, measured or not. */

import { KernelMessage } from '@jupyterlab/services';

import type { KernelModel } from './model';

/**
 * Follows the execution of cells. A kernel is also busy for requests of extensions, but echoes only the code
 * of cells. A cell runs until the kernel is idle again with that request as its parent.
 */
export class Execution {
  constructor(private readonly model: KernelModel) {}

  /** Read a broadcast of the kernel. */
  read(message: KernelMessage.IIOPubMessage): void {
    const request = message.parent_header;
    const id = 'msg_id' in request ? request.msg_id : null;
    if (KernelMessage.isExecuteInputMsg(message)) {
      this.request = id;
      this.model.setExecuting(true);
    } else if (
      id === this.request &&
      KernelMessage.isStatusMsg(message) &&
      message.content.execution_state === 'idle'
    ) {
      this.forget();
    }
  }

  /** Assume that no cell runs, because the message of its end may have been missed. */
  forget(): void {
    this.request = null;
    this.model.setExecuting(false);
  }

  /** Id of the execute request that runs. */
  private request: string | null = null;
}
