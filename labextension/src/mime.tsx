/**
 * What JupyterLab draws of ours under cells. The receipt is drawn from the saved data alone, in any notebook,
 * without a kernel.
 */

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { ReactElement } from 'react';

import { plan, race } from './figurewidget';
import { translateTo } from './i18n';
import type { Translate } from './i18n';
import { loadMessages } from './messages';
import type { Messages } from './messages';
import { MIME_TYPE, readRecord } from './record';
import type { IRecord, Unreadable } from './record';
import { restart } from './restartwidget';
import { MessagesContext } from './views/MessagesContext';
import { Receipt } from './views/Receipt';

class ReceiptWidget extends ReactWidget implements IRenderMime.IRenderer {
  constructor(languageCode: string) {
    super();
    this.t = translateTo(languageCode);
    this.addClass('jp-mlgpu-ReceiptWidget');
    void loadMessages(languageCode).then(messages => {
      this.messages = messages;
      this.update();
    });
  }

  renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.record = readRecord(model.data[MIME_TYPE]);
    this.update();
    return Promise.resolve();
  }

  protected override render(): ReactElement {
    return (
      <MessagesContext.Provider value={this.messages}>
        <Receipt record={this.record} t={this.t} />
      </MessagesContext.Provider>
    );
  }

  private messages: Messages | null = null;
  private record: IRecord | Unreadable = 'invalid';
  private readonly t: Translate;
}

const receipt: IRenderMime.IExtension = {
  id: 'jupyter-mlgpu:receipt',
  description: 'Draws the receipts that jupyter_mlgpu puts under cells.',
  // Before text/html, and safe in a notebook that is not trusted: React escapes all that is shown.
  rank: 0,
  rendererFactory: {
    safe: true,
    mimeTypes: [MIME_TYPE],
    createRenderer: options => new ReceiptWidget(options.translator?.languageCode ?? 'en')
  },
  dataType: 'json'
};

export default [receipt, restart, plan, race];
