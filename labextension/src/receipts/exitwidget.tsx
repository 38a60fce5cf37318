/** The output under the cell in which a kernel died. */

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { ReactElement } from 'react';

import { EXIT_MIME_TYPE } from '../kernel/kernelexit';
import { readKernelExit, type IKernelExit } from '../kernel/messages';
import { savedText } from '../language/untrusted';
import { ExitCause } from './ExitCause';
import { OutputWidget, outputType } from './outputtype';

class ExitWidget extends OutputWidget {
  constructor(languageCode: string) {
    super('ExitWidget', languageCode);
  }

  protected read(data: IRenderMime.IMimeModel['data']): void {
    this.exit = readKernelExit(data[EXIT_MIME_TYPE]);
    this.plain = savedText(data['text/plain']);
  }

  protected override render(): ReactElement {
    const { exit } = this;
    return exit === null ? <p>{this.plain}</p> : <ExitCause exit={exit} t={this.language.t} />;
  }

  private exit: IKernelExit | null = null;
  private plain = '';
}

export const exit = outputType(
  'exit',
  EXIT_MIME_TYPE,
  0,
  'Says why the kernel died under the cell that ran.',
  code => new ExitWidget(code)
);
