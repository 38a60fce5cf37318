/**
 * The link between a notebook's cells and the list of their records: which cell is pointed at, and which one
 * the list points at. Nothing listens, and nothing is marked, while no list is in the page.
 */

import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';

const MARKED = 'jp-mlgpu-MarkedCell';

export class CellMarks {
  constructor(private readonly notebook: NotebookPanel) {}

  /** The cell under the pointer, else the one that has the notebook's cursor. */
  get pointed(): string | null {
    const active = this.notebook.isDisposed ? null : this.notebook.content.activeCell;
    return this.hovered?.id ?? (active?.isDisposed === false ? active.model.id : null);
  }

  /** The record that was marked last, though it may be no more: what is said of it can still be read. */
  get told(): string | null {
    return this.last;
  }

  /** Hear when another cell is pointed at; answers how to hear no more. */
  readonly subscribe = (onChange: () => void): (() => void) => {
    if (this.listeners.size === 0) {
      this.listen();
    }
    this.listeners.add(onChange);
    return () => {
      this.listeners.delete(onChange);
      if (this.listeners.size === 0) {
        this.rest();
      }
    };
  };

  /** Mark the cell of the record `owner`, and no other one. */
  mark(owner: string, cellId: string | null): void {
    this.unmark(this.owner);
    const marked = this.notebook.content.widgets.find(({ model }) => model.id === cellId);
    marked?.addClass(MARKED);
    [this.owner, this.marked] = [owner, marked ?? null];
    if (owner !== this.last) {
      this.last = owner;
      this.tell();
    }
  }

  /** Take away the mark that `owner` has set, if it stands. */
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
    content.activeCellChanged.connect(this.tell, this);
  }

  private rest(): void {
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
      this.tell();
    }
  };

  private readonly onPointerLeave = (): void => {
    this.hovered = null;
    this.tell();
  };

  private tell(): void {
    this.listeners.forEach(onChange => onChange());
  }

  private readonly listeners = new Set<() => void>();
  private hovered: { id: string; node: Element } | null = null;
  private owner: string | null = null;
  private last: string | null = null;
  private marked: Cell | null = null;
}
