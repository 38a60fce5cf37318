/**
 * What the running cell is at, in a line under it, until its receipt takes that place. Nothing of it is in the
 * notebook, and no screen reader is told each time that it changes.
 */

import type { Cell } from '@jupyterlab/cells';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { PanelLayout, Widget } from '@lumino/widgets';

import { liveWords } from '../kernel/livewords';
import type { NotebookSession, Notebooks } from '../kernel/notebooks';
import type { IRunningCell } from '../kernel/state';
import type { Language } from '../language/language';
import { preferences } from '../sidebar/preferences';

/** Seconds that a cell has run before it has a line: most are through by then. */
const SHORTEST = 1;
/** Milliseconds between two drawings. */
const TICK = 500;

/** A line under the cell that runs, in each notebook. */
export class LiveLines {
  constructor(
    tracker: INotebookTracker,
    private readonly notebooks: Notebooks,
    private readonly language: Language
  ) {
    tracker.forEach(notebook => this.follow(notebook));
    tracker.widgetAdded.connect((_, notebook) => this.follow(notebook));
  }

  private follow(notebook: NotebookPanel): void {
    const session = this.notebooks.of(notebook);
    let line: LiveLine | null = null;
    const end = (): void => {
      line?.dispose();
      line = null;
    };
    session.model.stateChanged.connect(({ state }) => {
      const [running] = state.running;
      const cell =
        running && notebook.content.widgets.find(({ model }) => model.id === running.cell.id);
      if (cell === undefined || cell !== line?.cell) {
        end();
      }
      if (running !== undefined && cell !== undefined) {
        line ??= new LiveLine(notebook, session, cell, this.language);
        line.running = running;
      }
    });
    notebook.disposed.connect(end);
  }
}

class LiveLine extends Widget {
  constructor(
    private readonly notebook: NotebookPanel,
    private readonly session: NotebookSession,
    readonly cell: Cell,
    private readonly language: Language
  ) {
    super();
    this.addClass('jp-mlgpu-LiveLine');
    // JupyterLab's own, as wide as that of the outputs above.
    const prompt = document.createElement('div');
    prompt.className = 'jp-OutputPrompt';
    prompt.ariaHidden = 'true';
    this.words.className = 'jp-mlgpu-LiveLine-words';
    this.words.role = 'timer';
    this.words.ariaLive = 'off';
    this.node.append(prompt, this.words);
    this.timer = setInterval(() => this.draw(), TICK);
  }

  running: IRunningCell | null = null;

  override dispose(): void {
    clearInterval(this.timer);
    this.session.watch(false, 'live line');
    super.dispose();
  }

  private draw(): void {
    const { running, cell, session } = this;
    if (running === null || cell.isDisposed) {
      return;
    }
    const seconds = running.elapsed + (performance.now() - running.seenAt) / 1000;
    if (seconds < SHORTEST) {
      return;
    }
    // Nobody looks for numbers that nobody sees.
    const isSeen = this.notebook.isVisible && !document.hidden;
    this.session.watch(preferences.current.liveGauges && isSeen, 'live line');
    const { t } = this.language;
    this.words.ariaLabel = t('liveLine');
    this.words.textContent = liveWords(seconds, session.model.counters.value, Date.now(), t);
    if (this.parent === null && cell.layout instanceof PanelLayout) {
      cell.layout.addWidget(this);
    }
  }

  private readonly words = document.createElement('div');
  private readonly timer: ReturnType<typeof setInterval>;
}
