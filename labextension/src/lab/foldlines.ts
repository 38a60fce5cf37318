/**
 * Hides harmless native lines in a cell's rendered outputs. The original rendering of a stream is hidden, and
 * one without these lines, by the same renderer, is inserted before it. The outputs in the notebook stay as
 * they are.
 */

import { CodeCell } from '@jupyterlab/cells';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { PanelLayout, type Widget } from '@lumino/widgets';

import { dataOf } from '../kernel/outputs';
import { foldingOf, type IWritten, type NativeLines } from '../record/folding';
import { MIME_TYPE, type IRecord } from '../record/record';
import type { ICellOutputs } from '../receipts/providers';
import { object } from '../language/untrusted';

/**
 * A cell tag, and a key of the notebook's metadata (`{"jupyter_mlgpu": {"logs": "show"}}`), that keep the
 * lines.
 */
const TAG = 'show-log-lines';
const KEY = 'jupyter_mlgpu';
/** A notebook whose code matches both is a lesson about log lines. */
const LESSON = /\bjupyter_mlgpu\.lessons\b/;
const READS_LOGS = /\.logs\b|%mlc_trace +logs\b/;

/** Finds the outputs of cells by a DOM node in them. */
export class FoldedOutputs {
  constructor(private readonly tracker: INotebookTracker) {}

  readonly at = (node: Node): ICellOutputs | null => {
    const notebook = this.tracker.find(({ content }) => content.node.contains(node));
    const cell = notebook?.content.widgets.find(one => one.node.contains(node));
    if (notebook === undefined || !(cell instanceof CodeCell)) {
      return null;
    }
    const outputs = this.cells.get(cell) ?? new CellOutputs(notebook, cell);
    this.cells.set(cell, outputs);
    return outputs;
  };

  private readonly cells = new WeakMap<Widget, CellOutputs>();
}

class CellOutputs implements ICellOutputs {
  constructor(
    private readonly notebook: NotebookPanel,
    private readonly cell: CodeCell
  ) {}

  readonly fold = (
    record: IRecord,
    wanted: NativeLines,
    onFold: (messages: readonly string[]) => void
  ): (() => void) => {
    const { model } = this.cell.outputArea;
    let soon: ReturnType<typeof setTimeout> | undefined;
    const foldSoon = (): void => {
      clearTimeout(soon);
      soon = setTimeout(() => onFold(this.draw(record, wanted)));
    };
    model.changed.connect(foldSoon);
    model.stateChanged.connect(foldSoon);
    onFold(this.draw(record, wanted));
    return () => {
      clearTimeout(soon);
      model.changed.disconnect(foldSoon);
      model.stateChanged.disconnect(foldSoon);
      this.unfold();
    };
  };

  /** Render the outputs without the folded lines; returns these lines. */
  private draw(record: IRecord, wanted: NativeLines): readonly string[] {
    this.unfold();
    if (this.cell.isDisposed) {
      return [];
    }
    const { outputs, receipts } = this.written();
    // If several runs share one output, the beginning of each is unknown.
    if (outputs.length === 0 || receipts !== 1) {
      return [];
    }
    const setting = wanted === 'fold' && teachesLines(this.notebook, this.cell) ? 'show' : wanted;
    const { left, messages } = foldingOf(outputs, record, setting);
    left.forEach((text, at) => {
      const output = outputs[at];
      if (text !== null && output !== undefined) {
        this.show(output.index, output.stream, text);
      }
    });
    return messages;
  }

  /** Return the cell's stream outputs, and the number of its receipts. */
  private written(): { outputs: (IWritten & { index: number })[]; receipts: number } {
    const { model } = this.cell.outputArea;
    const outputs: (IWritten & { index: number })[] = [];
    let receipts = 0;
    for (let index = 0; index < model.length; index++) {
      const output = model.get(index);
      if (output.type === 'stream') {
        const { name, text } = output.toJSON() as { name: string; text: string | string[] };
        outputs.push({
          index,
          stream: name,
          text: typeof text === 'string' ? text : text.join('')
        });
      } else if (output.type === 'display_data' && MIME_TYPE in (dataOf(output) ?? {})) {
        receipts += 1;
      }
    }
    return { outputs, receipts };
  }

  /** Render a stream output with this text only. */
  private show(index: number, stream: string, text: string): void {
    const { outputArea } = this.cell;
    const output = outputArea.widgets[index];
    const whole = output && [...output.children()].filter(child => 'renderModel' in child).pop();
    if (output === undefined || whole === undefined || !(output.layout instanceof PanelLayout)) {
      return;
    }
    if (text === '') {
      output.hide();
      this.undo.push(() => output.show());
      return;
    }
    const { rendermime } = outputArea;
    const type = `application/vnd.jupyter.${stream}`;
    const part = rendermime.createRenderer(type);
    part.addClass('jp-OutputArea-output');
    part.addClass('jp-mlgpu-Unfolded');
    void part.renderModel(rendermime.createModel({ data: { [type]: text } }));
    // Inserted before it, because JupyterLab takes the last one for its own.
    output.layout.insertWidget(output.layout.widgets.indexOf(whole), part);
    whole.hide();
    this.undo.push(() => {
      part.dispose();
      whole.show();
    });
  }

  private unfold(): void {
    this.undo.splice(0).forEach(undo => undo());
  }

  private readonly undo: (() => void)[] = [];
}

function teachesLines(notebook: NotebookPanel, cell: CodeCell): boolean {
  const { model } = notebook.context;
  const tags = cell.model.getMetadata('tags') as unknown;
  if (Array.isArray(tags) && tags.includes(TAG)) {
    return true;
  }
  if (object(model.getMetadata(KEY))?.logs === 'show') {
    return true;
  }
  const codes = [...model.cells].flatMap(({ type, sharedModel }) =>
    type === 'code' ? sharedModel.getSource() : []
  );
  return codes.some(code => LESSON.test(code)) && codes.some(code => READS_LOGS.test(code));
}
