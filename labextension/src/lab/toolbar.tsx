/** The button in a notebook's toolbar. It starts tracing, or shows the device and opens the Now view. */

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
    session.model.stateChanged.connect(this.refresh, this);
    language.changed.connect(this.refresh, this);
    this.refresh();
  }

  protected override render(): ReactElement {
    const { t } = this.language;
    const { starts, words } = this;
    // JupyterLab's own button has no accessible name besides its label, such as `cpu`.
    const sentence = starts ? t('startTracing_about') : t('deviceButton', { device: words });
    return (
      <button
        type="button"
        title={sentence}
        aria-label={starts ? words : sentence}
        data-starts={starts}
        // A click keeps the keyboard focus, as on JupyterLab's own buttons.
        onMouseDown={event => event.preventDefault()}
        onClick={starts ? this.start : this.showNow}
      >
        <icon.react tag="span" />
        <span className="jp-mlgpu-DeviceButton-name">{words}</span>
      </button>
    );
  }

  /** Redraw only if the words have changed: the state changes twenty times a second. */
  private refresh(): void {
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
