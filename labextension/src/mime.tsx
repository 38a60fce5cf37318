/**
 * The receipt under a cell: drawn from the saved data alone, in any notebook, without a kernel.
 */

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { ReactElement } from 'react';

import { translateTo } from './i18n';
import type { Translate } from './i18n';
import { MIME_TYPE, readRecord } from './protocol';
import type { IRecord, Unreadable } from './protocol';
import { Receipt } from './views/Receipt';

class ReceiptWidget extends ReactWidget implements IRenderMime.IRenderer {
  constructor(private readonly t: Translate) {
    super();
    this.addClass('jp-mlgpu-ReceiptWidget');
  }

  renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.record = readRecord(model.data[MIME_TYPE]);
    this.update();
    return Promise.resolve();
  }

  protected override render(): ReactElement {
    return <Receipt record={this.record} t={this.t} />;
  }

  private record: IRecord | Unreadable = 'invalid';
}

const extension: IRenderMime.IExtension = {
  id: 'jupyter-mlgpu:receipt',
  description: 'Draws the receipts that jupyter_mlgpu puts under cells.',
  // Before text/html, and safe in a notebook that is not trusted: React escapes all that is shown.
  rank: 0,
  rendererFactory: {
    safe: true,
    mimeTypes: [MIME_TYPE],
    createRenderer: options =>
      new ReceiptWidget(translateTo(options.translator?.languageCode ?? 'en'))
  },
  dataType: 'json'
};

export default extension;
