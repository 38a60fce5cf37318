/**
 * The MIME renderers for outputs of cells. A receipt is drawn from its saved data alone, without a kernel.
 */

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { ReactElement } from 'react';

import { page } from '../page/figurewidget';
import { OutputWidget, outputType } from './outputtype';
import { preferences } from '../sidebar/preferences';
import { openReceipt } from '../record/asking';
import { MIME_TYPE, readRecord, type IRecord } from '../record/record';
import type { IOpenReceipt } from '../record/openreceipt';
import { exit } from './exitwidget';
import { FoldedLines } from './FoldedLines';
import { outputsProvider, lineProvider } from './providers';
import { restart } from './restartwidget';
import { object, savedText, type Unreadable } from '../language/untrusted';
import { Receipt } from './Receipt';

class ReceiptWidget extends OutputWidget {
  constructor(languageCode: string) {
    super('ReceiptWidget', languageCode);
    preferences.changed.connect(this.update, this);
    lineProvider.changed.connect(this.update, this);
    outputsProvider.changed.connect(this.update, this);
  }

  protected read(data: IRenderMime.IMimeModel['data']): void {
    const source = object(data[MIME_TYPE]);
    this.record = readRecord(source, data['text/plain']);
    this.plain = savedText(data['text/plain']);
    this.ask = async () => source && openReceipt(source);
  }

  protected override render(): ReactElement | null {
    const { t } = this.language;
    const { receipt: setting, nativeLines } = preferences.current;
    this.node.dataset.shown = setting;
    return (
      <>
        {typeof this.record !== 'string' && (
          <FoldedLines
            record={this.record}
            outputs={outputsProvider.at(this.node)}
            wanted={nativeLines}
            t={t}
          />
        )}
        {setting !== 'hidden' && (
          // The key resets the component when the setting changes.
          <Receipt
            key={setting}
            record={this.record}
            open={setting === 'open'}
            ask={this.ask}
            plain={this.plain}
            finder={() => lineProvider.at(this.node)}
            pageOf={record => lineProvider.page(this.node, record)}
            t={t}
          />
        )}
      </>
    );
  }

  private record: IRecord | Unreadable = 'invalid';
  private plain = '';
  private ask = nothing;
}

const nothing = (): Promise<IOpenReceipt | null> => Promise.resolve(null);

const receipt = outputType(
  'receipt',
  MIME_TYPE,
  0,
  'Draws the receipts that jupyter_mlgpu puts under cells.',
  code => new ReceiptWidget(code)
);

export default [receipt, restart, exit, page];
