/**
 * What JupyterLab draws of ours under cells. The receipt is drawn from the saved data alone, in any notebook,
 * without a kernel.
 */

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { ReactElement } from 'react';

import { bench, engines, plan, race } from './figurewidget';
import { languageOf } from './language';
import type { Language } from './language';
import { preferences } from './preferences';
import { MIME_TYPE, readRecord } from './record';
import type { IRecord, Unreadable } from './record';
import { restart } from './restartwidget';
import { MessagesContext } from './views/MessagesContext';
import { Receipt } from './views/Receipt';

class ReceiptWidget extends ReactWidget implements IRenderMime.IRenderer {
  constructor(languageCode: string) {
    super();
    this.language = languageOf(languageCode);
    this.addClass('jp-mlgpu-ReceiptWidget');
    this.language.changed.connect(this.update, this);
    preferences.changed.connect(this.update, this);
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.record = readRecord(model.data[MIME_TYPE]);
    await this.language.ready;
    this.update();
  }

  protected override render(): ReactElement {
    const { messages, t } = this.language;
    const { receipt: shown } = preferences.current;
    this.node.dataset.shown = shown;
    return (
      <MessagesContext.Provider value={messages}>
        {shown !== 'hidden' && (
          // A key: with another setting it begins as that one says.
          <Receipt key={shown} record={this.record} open={shown === 'open'} t={t} />
        )}
      </MessagesContext.Provider>
    );
  }

  private record: IRecord | Unreadable = 'invalid';
  private readonly language: Language;
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

export default [receipt, restart, plan, race, bench, engines];
