/**
 * The button in a notebook's toolbar: it starts tracing where the notebook is not traced, and else shows its
 * device, and opens the sidebar on what happens now.
 */

import { ReactWidget } from '@jupyterlab/ui-components';
import type { ReactElement } from 'react';

import type { Language } from '../language/language';
import type { NotebookSession } from '../kernel/notebooks';
import { canStart } from '../kernel/state';
import { icon } from '../sidebar/panel';
import { deviceInWords } from '../kernel/summary';

export class DeviceButton extends ReactWidget {
  constructor(
    private readonly session: NotebookSession,
    private readonly language: Language,
    private readonly showNow: () => void,
    private readonly start: () => void
  ) {
    super();
    this.addClass('jp-ToolbarButton');
    this.addClass('jp-mlgpu-DeviceButton');
    session.model.stateChanged.connect(this.look, this);
    language.changed.connect(this.look, this);
    this.look();
  }

  protected override render(): ReactElement {
    const { t } = this.language;
    const { starts, words } = this;
    // Not JupyterLab's own component, which tells a screen reader no more than its label: `cpu`.
    const sentence = starts ? t('startTracing_about') : t('deviceButton', { device: words });
    return (
      <button
        type="button"
        title={sentence}
        aria-label={starts ? words : sentence}
        data-starts={starts}
        // A click leaves the keyboard where it is, as one on JupyterLab's own buttons does.
        onMouseDown={event => event.preventDefault()}
        onClick={starts ? this.start : this.showNow}
      >
        <icon.react tag="span" />
        <span className="jp-mlgpu-DeviceButton-name">{words}</span>
      </button>
    );
  }

  /** The state changes twenty times a second; what stands here seldom. */
  private look(): void {
    const { state } = this.session.model;
    const { t } = this.language;
    const starts = canStart(state);
    const startWords = state.starting === 'loading' ? 'startingTracing' : 'startTracing';
    const words = starts ? t(startWords) : deviceInWords(state, t);
    if (words !== this.words || starts !== this.starts) {
      this.words = words;
      this.starts = starts;
      this.update();
    }
  }

  private starts = false;
  private words = '';
}
