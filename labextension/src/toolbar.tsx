/** The button in a notebook's toolbar that shows its device, and opens the sidebar on what happens now. */

import { ReactWidget, ToolbarButtonComponent } from '@jupyterlab/ui-components';
import type { ReactElement } from 'react';

import type { Language } from './language';
import type { NotebookSession } from './notebooks';
import { icon } from './panel';
import { deviceInWords } from './summary';

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
    const { t } = this.language;
    return (
      <ToolbarButtonComponent
        icon={icon}
        label={this.words}
        tooltip={t('deviceButton', { device: this.words })}
        onClick={this.onClick}
      />
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
