/** The MIME renderer of plans, races, benchmarks and collections of engines. */

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Suspense, lazy, type ReactElement } from 'react';

import { OutputWidget, outputType } from '../receipts/outputtype';
import { PAGE_TYPE, readPage, type IPage } from './page';
import type { Unreadable } from '../language/untrusted';

// Loaded with the first page.
export const PageView = lazy(async () => ({
  default: (await import('./PageView.js')).PageView
}));

class PageWidget extends OutputWidget {
  constructor(languageCode: string) {
    super('FigureWidget', languageCode);
  }

  protected read(data: IRenderMime.IMimeModel['data']): void {
    this.page = readPage(data[PAGE_TYPE]);
  }

  protected override render(): ReactElement {
    const { t } = this.language;
    return typeof this.page === 'string' ? (
      <p className="jp-mlgpu-Figure jp-mlgpu-Quiet">
        {t(this.page === 'newer' ? 'newerFigure' : 'invalidFigure')}
      </p>
    ) : (
      <Suspense>
        <PageView page={this.page} t={t} />
      </Suspense>
    );
  }

  private page: IPage | Unreadable = 'invalid';
}

// Before plotly's renderer, which has rank 0, so that the chart looks as in the sidebar and has its table.
export const page = outputType(
  'page',
  PAGE_TYPE,
  -1,
  'Draws plans, races, benchmarks, and what jupyter_mlgpu.collect has brought together.',
  code => new PageWidget(code)
);
