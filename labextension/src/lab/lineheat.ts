/**
 * Marks the hot lines of cells in the gutters of their editors: a narrow bar whose height is the line's share
 * of the samples, with the figure on hover. Nothing of it is saved. Marks go when the code is edited. Screen
 * readers have the same figures in the receipt's table.
 */

import { RangeSet, StateEffect, StateField, type Extension } from '@codemirror/state';
import { GutterMarker, gutter } from '@codemirror/view';
import type { Cell, ICodeCellModel } from '@jupyterlab/cells';
import { CodeMirrorEditor } from '@jupyterlab/codemirror';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';

import { forEachNotebook, type Notebooks } from '../kernel/notebooks';
import { shownEntries, type IEntry } from '../kernel/state';
import type { Language } from '../language/language';
import { formatShare } from '../record/format';
import { heatOf, type ICellHeat, type ICodeCell } from '../record/heat';
import { preferences } from '../sidebar/preferences';

/** A line, its share of the samples, and the text on hover. */
interface IMark {
  line: number;
  share: number;
  title: string;
}

/** Marks the lines in all notebooks. */
export class LineHeat {
  constructor(
    tracker: INotebookTracker,
    private readonly notebooks: Notebooks,
    private readonly language: Language
  ) {
    forEachNotebook(tracker, notebook => {
      const { model } = this.notebooks.of(notebook);
      let entries: readonly IEntry[] = [];
      const draw = (): void => {
        entries = shownEntries(model.state);
        this.draw(notebook, entries);
      };
      model.stateChanged.connect(({ state }) => {
        // Most changes bring no record; the newest one is the last.
        const now = shownEntries(state);
        if (now.length !== entries.length || now.at(-1) !== entries.at(-1)) {
          draw();
        }
      });
      preferences.changed.connect(draw, notebook);
      draw();
    });
  }

  private draw(notebook: NotebookPanel, entries: readonly IEntry[]): void {
    if (notebook.isDisposed) {
      return;
    }
    const { widgets } = notebook.content;
    const records = preferences.current.lineHeat ? entries.map(({ record }) => record) : [];
    const heat = heatOf(records, widgets.map(asCodeCell));
    widgets.forEach((cell, index) => {
      const hot = heat.get(index);
      const run = hot?.run ?? '';
      // Drawn once for each run: an edit removes them, and the next run brings others.
      if ((this.drawn.get(cell) ?? '') !== run) {
        this.drawn.set(cell, run);
        mark(cell, this.marksOf(hot));
      }
    });
  }

  private marksOf(heat: ICellHeat | undefined): IMark[] {
    const { t } = this.language;
    const { lines = [], sampledIn = null } = heat ?? {};
    return lines.map(({ line, share, low, high }) => {
      const values = {
        share: formatShare(share),
        low: formatShare(low),
        high: formatShare(high),
        cell: `${sampledIn ?? ''}`
      };
      const title = t(sampledIn === null ? 'lineHeat' : 'lineHeatOf', values);
      return { line, share, title };
    });
  }

  /** The run whose marks were drawn in each cell; empty for none. */
  private readonly drawn = new WeakMap<Cell, string>();
}

function asCodeCell({ model }: Cell): ICodeCell {
  const code = model.type === 'code' ? (model as ICodeCellModel) : null;
  return { id: model.id, count: code?.isDirty === false ? code.executionCount : null };
}

/** Mark lines in a cell's editor, once it has one. */
function mark(cell: Cell, marks: readonly IMark[]): void {
  const { editor } = cell;
  if (editor === null) {
    void cell.ready.then(() => {
      if (!cell.isDisposed && cell.editor !== null) {
        mark(cell, marks);
      }
    });
  } else if (editor instanceof CodeMirrorEditor) {
    if (editor.state.field(MARKS, false) === undefined) {
      editor.injectExtension(EXTENSION);
    }
    editor.editor.dispatch({ effects: SET_MARKS.of(marks) });
  }
}

class Bar extends GutterMarker {
  constructor(private readonly mark: IMark) {
    super();
  }

  override eq(other: Bar): boolean {
    return other.mark.share === this.mark.share && other.mark.title === this.mark.title;
  }

  override toDOM(): Node {
    const bar = document.createElement('div');
    bar.className = 'jp-mlgpu-Heat-bar';
    bar.style.height = `${this.mark.share * 100}%`;
    bar.title = this.mark.title;
    return bar;
  }
}

const SET_MARKS = StateEffect.define<readonly IMark[]>();

const MARKS = StateField.define<RangeSet<Bar>>({
  create: () => RangeSet.empty,
  update: (marks, { docChanged, effects, newDoc }) => {
    let now = docChanged ? RangeSet.empty : marks;
    for (const effect of effects) {
      if (effect.is(SET_MARKS)) {
        const known = effect.value.filter(({ line }) => line <= newDoc.lines);
        const bars = known.map(one => new Bar(one).range(newDoc.line(one.line).from));
        now = RangeSet.of(bars, true);
      }
    }
    return now;
  }
});

const EXTENSION: Extension = [
  MARKS,
  gutter({ class: 'jp-mlgpu-Heat', markers: ({ state }) => state.field(MARKS) })
];
