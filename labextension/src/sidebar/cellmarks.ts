/**
 * Connects a notebook's cells with the list of their records: the cell under the pointer is marked in the
 * list, and vice versa. Nothing listens or is marked while no list is in the page.
 */

import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';

const MARKED = 'jp-mlgpu-MarkedCell';

export class CellMarks {
  constructor(private readonly notebook: NotebookPanel) {}

  /** Id of the cell under the pointer, else of the active cell. */
  get pointed(): string | null {
    const active = this.notebook.isDisposed ? null : this.notebook.content.activeCell;
    return this.hovered?.id ?? (active?.isDisposed === false ? active.model.id : null);
  }

  /** Key of the record marked last, whose details stay on screen. */
  get lastMarked(): string | null {
    return this.last;
  }

  /** Call `onChange` when another cell is under the pointer; returns a function that ends it. */
  readonly subscribe = (onChange: () => void): (() => void) => {
    if (this.listeners.size === 0) {
      this.listen();
    }
    this.listeners.add(onChange);
    return () => {
      this.listeners.delete(onChange);
      if (this.listeners.size === 0) {
        this.unlisten();
      }
    };
  };

  /** Mark the cell of the record `owner`, and no other cell. */
  mark(owner: string, cellId: string | null): void {
    this.unmark(this.owner);
    const marked = this.notebook.content.widgets.find(({ model }) => model.id === cellId);
    marked?.addClass(MARKED);
    [this.owner, this.marked] = [owner, marked ?? null];
    if (owner !== this.last) {
      this.last = owner;
      this.notify();
    }
  }

  /** Remove the mark of `owner`, if it is still set. */
  unmark(owner: string | null): void {
    if (owner !== null && owner === this.owner) {
      if (this.marked?.isDisposed === false) {
        this.marked.removeClass(MARKED);
      }
      [this.owner, this.marked] = [null, null];
    }
  }

  private listen(): void {
    const { content } = this.notebook;
    content.node.addEventListener('pointerover', this.onPointerOver);
    content.node.addEventListener('pointerleave', this.onPointerLeave);
    content.activeCellChanged.connect(this.notify, this);
  }

  private unlisten(): void {
    this.hovered = null;
    if (this.notebook.isDisposed) {
      return;
    }
    const { content } = this.notebook;
    content.node.removeEventListener('pointerover', this.onPointerOver);
    content.node.removeEventListener('pointerleave', this.onPointerLeave);
    Signal.disconnectReceiver(this);
  }

  private readonly onPointerOver = ({ target }: Event): void => {
    const node = (target as Element).closest('.jp-Cell');
    if (node !== (this.hovered?.node ?? null)) {
      const cell = this.notebook.content.widgets.find(one => one.node === node);
      this.hovered = cell ? { id: cell.model.id, node: cell.node } : null;
      this.notify();
    }
  };

  private readonly onPointerLeave = (): void => {
    this.hovered = null;
    this.notify();
  };

  private notify(): void {
    this.listeners.forEach(onChange => onChange());
  }

  private readonly listeners = new Set<() => void>();
  private hovered: { id: string; node: Element } | null = null;
  private owner: string | null = null;
  private last: string | null = null;
  private marked: Cell | null = null;
}
