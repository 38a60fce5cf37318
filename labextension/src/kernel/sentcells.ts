/** The cells that this page has sent to a kernel. */

import { KernelMessage, type Kernel } from '@jupyterlab/services';

/** Knows the running cell at once. A kernel that dies early in a cell has sent nothing about it. */
export class SentCells {
  constructor(private readonly kernel: Kernel.IKernelConnection) {
    kernel.anyMessage.connect(this.read, this);
  }

  /** Id of the cell that was sent first and has not ended; null if there is none. */
  get running(): string | null {
    return this.cells.values().next().value ?? null;
  }

  has(cellId: string): boolean {
    return [...this.cells.values()].includes(cellId);
  }

  /** Forget all cells, because the kernel has ended. */
  forget(): void {
    this.cells.clear();
  }

  dispose(): void {
    this.kernel.anyMessage.disconnect(this.read, this);
  }

  private read(_: unknown, { msg, direction }: Kernel.IAnyMessageArgs): void {
    if (direction === 'recv') {
      if (KernelMessage.isExecuteReplyMsg(msg)) {
        this.cells.delete(msg.parent_header.msg_id);
      }
    } else if (msg.header.msg_type === 'execute_request') {
      const { cellId } = msg.metadata;
      if (typeof cellId === 'string') {
        this.cells.set(msg.header.msg_id, cellId);
      }
    }
  }

  /** Ids of the cells by those of their requests, in the order in which the kernel runs them. */
  private readonly cells = new Map<string, string>();
}
