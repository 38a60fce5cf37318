/** Whether a kernel runs a cell, of whichever page, be it one that is measured or not. */

import { KernelMessage } from '@jupyterlab/services';

import type { KernelModel } from './model';

/**
 * A kernel is busy for others' questions and ours too. Only a cell's code is echoed: it runs until the kernel is
 * idle again after that very request.
 */
export class Execution {
  constructor(private readonly model: KernelModel) {}

  /** A broadcast of the kernel. */
  hear(message: KernelMessage.IIOPubMessage): void {
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

  /** Its end may have been missed. */
  forget(): void {
    this.request = null;
    this.model.setExecuting(false);
  }

  /** Whose code the kernel runs. */
  private request: string | null = null;
}
