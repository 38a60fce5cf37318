/**
 * The controls of jupyter_mlgpu/jupyter/notebook/browser/widgets.py for VS Code, Colab and JupyterLab: the
 * entry of the bundle that anywidget loads (anywidget.dev/en/afm). The bundle includes React and the styles.
 */

import { StrictMode, useEffect, useMemo, type ReactElement } from 'react';
import { createRoot } from 'react-dom/client';

import { catalogueOf, readCatalogue, translator } from '../language/i18n';
import { DevicePicker } from './DevicePicker';
import { TraceView } from './TraceView';
import { languageOf, useTrait, type IModel } from './model';

/** The styles, with a default for each variable of JupyterLab's theme; bundle.mjs defines it. */
declare const STYLES: string;

function render({ model, el }: { model: IModel; el: HTMLElement }): () => void {
  const language = languageOf(model);
  // Each widget has a React of its own; without a prefix their ids would clash.
  const root = createRoot(el, {
    identifierPrefix: `mlgpu-${Math.random().toString(36).slice(2)}-`
  });
  root.render(
    <StrictMode>
      <style>{STYLES}</style>
      <div className="jp-mlgpu-Widget" lang={language}>
        <Control model={model} language={language} />
      </div>
    </StrictMode>
  );
  return () => root.unmount();
}

function Control(props: { model: IModel; language: string }): ReactElement {
  const { model, language } = props;
  const wanted = catalogueOf(language);
  const brought = useTrait(model, 'catalogue');
  const t = useMemo(
    () => translator(wanted === null ? null : readCatalogue(wanted, brought)),
    [wanted, brought]
  );
  useEffect(() => {
    if (wanted !== null) {
      // The kernel then sends the catalogue of that language, once for all pages.
      model.send({ speaks: wanted });
    }
  }, [model, wanted]);
  return model.get('shows') === 'devices' ? (
    <DevicePicker model={model} t={t} />
  ) : (
    <TraceView model={model} t={t} />
  );
}

export default { render };
