/** The button in a notebook's toolbar that shows its device, and opens the sidebar on what happens now. */

import { ReactWidget } from '@jupyterlab/ui-components';
import type { ReactElement } from 'react';

import type { Language } from '../language/language';
import type { NotebookSession } from '../kernel/notebooks';
import { icon } from '../sidebar/panel';
import { deviceInWords } from '../kernel/summary';

export class DeviceButton extends ReactWidget {
  constructor(
    private readonly session: NotebookSession,
    private readonly language: Language,
    private readonly onClick: () => void
  ) {
    super();
    this.addClass('jp-ToolbarButton');
    this.addClass('jp-mlgpu-DeviceButton');
    session.model.stateChanged.connect(this.look, this);
    language.changed.connect(this.look, this);
    this.look();
  }

  protected override render(): ReactElement {
    // Not JupyterLab's own component, which tells a screen reader no more than its label: `cpu`.
    const sentence = this.language.t('deviceButton', { device: this.words });
    return (
      <button type="button" title={sentence} aria-label={sentence} onClick={this.onClick}>
        <icon.react tag="span" />
        <span className="jp-mlgpu-DeviceButton-name">{this.words}</span>
      </button>
    );
  }

  /** The state changes twenty times a second; its device seldom. */
  private look(): void {
    const words = deviceInWords(this.session.model.state, this.language.t);
    if (words !== this.words) {
      this.words = words;
      this.update();
    }
  }

  private words = '';
}
