/** The base of our MIME renderers, each of which draws from saved data alone, without a kernel. */

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { ReactWidget } from '@jupyterlab/ui-components';

import { languageOf, type Language } from '../language/language';

/** A MIME renderer in the page's language. */
export abstract class OutputWidget extends ReactWidget implements IRenderMime.IRenderer {
  constructor(name: string, languageCode: string) {
    super();
    this.language = languageOf(languageCode);
    this.language.changed.connect(this.update, this);
    this.addClass(`jp-mlgpu-${name}`);
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.read(model.data);
    await this.language.ready;
    this.update();
  }

  protected abstract read(data: IRenderMime.IMimeModel['data']): void;

  protected readonly language: Language;
}

/** Return the extension that registers a MIME renderer. */
export function outputType(
  name: string,
  type: string,
  rank: number,
  description: string,
  widget: (languageCode: string) => OutputWidget
): IRenderMime.IExtension {
  return {
    id: `jupyter-mlgpu:${name}`,
    description,
    // At most 0, to win over text/html. Safe in a notebook that is not trusted: React escapes all text.
    rank,
    rendererFactory: {
      safe: true,
      mimeTypes: [type],
      createRenderer: options => widget(options.translator?.languageCode ?? 'en')
    },
    dataType: 'json'
  };
}
