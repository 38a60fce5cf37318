/** The output that offers a restart. */

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { ReactElement } from 'react';

import { OutputWidget, outputType } from './outputtype';
import { RESTART_MIME_TYPE, readRestartHint, type IRestartHint } from '../kernel/restart';
import { restarterProvider, type IFailure } from './providers';
import { RestartNotice } from './RestartNotice';

class RestartWidget extends OutputWidget {
  constructor(languageCode: string) {
    super('RestartWidget', languageCode);
    restarterProvider.changed.connect(this.update, this);
  }

  protected read(data: IRenderMime.IMimeModel['data']): void {
    this.hint = readRestartHint(data[RESTART_MIME_TYPE]);
  }

  protected override render(): ReactElement {
    return (
      <RestartNotice
        hint={this.hint}
        obstacle={
          restarterProvider.restarter === null
            ? 'elsewhere'
            : restarterProvider.restarter.obstacle(this.node)
        }
        progress={this.progress}
        onRestart={() => void this.restart()}
        t={this.language.t}
      />
    );
  }

  private async restart(): Promise<void> {
    const verbose = this.hint?.verbose ?? null;
    const begin = (): void => this.setProgress('restarting');
    this.setProgress(
      (await restarterProvider.restarter?.restart(this.node, verbose, begin)) ?? null
    );
  }

  private setProgress(progress: 'restarting' | IFailure | null): void {
    this.progress = progress;
    this.update();
  }

  // Not React state, because JupyterLab may remove the output from the page and add it again.
  private progress: 'restarting' | IFailure | null = null;
  private hint: IRestartHint | null = null;
}

export const restart = outputType(
  'restart',
  RESTART_MIME_TYPE,
  0,
  'Offers a restart of the kernel where jupyter_mlgpu needs one.',
  code => new RestartWidget(code)
);
