/**
 * A line under the running cell with its live figures, until its receipt replaces it. It is not part of the
 * notebook, and screen readers do not announce its changes.
 */

import type { Cell } from '@jupyterlab/cells';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { PanelLayout, Widget } from '@lumino/widgets';

import { liveWords } from '../kernel/livewords';
import { forEachNotebook, type NotebookSession, type Notebooks } from '../kernel/notebooks';
import type { IRunningCell } from '../kernel/state';
import type { Language } from '../language/language';
import { preferences } from '../sidebar/preferences';

/** Seconds that a cell has run before it gets a line; most cells are shorter. */
const SHORTEST = 1;
/** Milliseconds between two updates. */
const TICK = 500;

/** Puts a line under the running cell of each notebook. */
export class LiveLines {
  constructor(
    tracker: INotebookTracker,
    private readonly notebooks: Notebooks,
    private readonly language: Language
  ) {
    forEachNotebook(tracker, notebook => this.follow(notebook));
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
    // An empty prompt aligns the line with the outputs above.
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
    this.session.requestCounters(false, 'live line');
    super.dispose();
  }

  private draw(): void {
    const { running, cell, session } = this;
    if (running === null || cell.isDisposed) {
      return;
    }
    const seconds = running.elapsed + (performance.now() - running.receivedAt) / 1000;
    if (seconds < SHORTEST) {
      return;
    }
    // Counters are only requested while the line is visible.
    const isSeen = this.notebook.isVisible && !document.hidden;
    this.session.requestCounters(preferences.current.liveGauges && isSeen, 'live line');
    const { t } = this.language;
    const { model } = session;
    this.words.ariaLabel = t('liveLine');
    this.words.textContent = liveWords(
      seconds,
      model.lastTime(running),
      model.counters.value,
      Date.now(),
      t
    );
    if (this.parent === null && cell.layout instanceof PanelLayout) {
      cell.layout.addWidget(this);
    }
  }

  private readonly words = document.createElement('div');
  private readonly timer: ReturnType<typeof setInterval>;
}
