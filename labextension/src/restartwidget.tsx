/**
 * The output that offers a restart, drawn by JupyterLab's registry of output types.
 */

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { ReactElement } from 'react';

import { languageOf } from './language';
import type { Language } from './language';
import { RESTART_MIME_TYPE, readRestartHint } from './restart';
import type { IRestartHint } from './restart';
import { door } from './restartdoor';
import type { IFailure } from './restartdoor';
import { RestartNotice } from './views/RestartNotice';

class RestartWidget extends ReactWidget implements IRenderMime.IRenderer {
  constructor(languageCode: string) {
    super();
    this.language = languageOf(languageCode);
    this.language.changed.connect(this.update, this);
    this.addClass('jp-mlgpu-RestartWidget');
    door.changed.connect(this.update, this);
  }

  override dispose(): void {
    door.changed.disconnect(this.update, this);
    super.dispose();
  }

  renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.hint = readRestartHint(model.data[RESTART_MIME_TYPE]);
    this.update();
    return Promise.resolve();
  }

  protected override render(): ReactElement {
    return (
      <RestartNotice
        hint={this.hint}
        obstacle={door.restarter === null ? 'elsewhere' : door.restarter.obstacle(this.node)}
        progress={this.progress}
        onRestart={() => void this.restart()}
        t={this.language.t}
      />
    );
  }

  private async restart(): Promise<void> {
    const verbose = this.hint?.verbose ?? null;
    const begin = (): void => this.tell('restarting');
    this.tell((await door.restarter?.restart(this.node, verbose, begin)) ?? null);
  }

  private tell(progress: 'restarting' | IFailure | null): void {
    this.progress = progress;
    this.update();
  }

  // Kept here: React's own state goes whenever JupyterLab takes the output out of the page.
  private progress: 'restarting' | IFailure | null = null;
  private hint: IRestartHint | null = null;
  private readonly language: Language;
}

export const restart: IRenderMime.IExtension = {
  id: 'jupyter-mlgpu:restart',
  description: 'Offers a restart of the kernel where jupyter_mlgpu needs one.',
  // As the receipt: drawn before text/html, and all that is shown is escaped.
  rank: 0,
  rendererFactory: {
    safe: true,
    mimeTypes: [RESTART_MIME_TYPE],
    createRenderer: options => new RestartWidget(options.translator?.languageCode ?? 'en')
  },
  dataType: 'json'
};
