/** The button in a notebook's toolbar. It turns tracing on and off, and shows the device of new work. */

import { ReactWidget } from '@jupyterlab/ui-components';
import type { ReactElement } from 'react';

import type { Language } from '../language/language';
import type { NotebookSession } from '../kernel/notebooks';
import { canStart, isTracing } from '../kernel/state';
import { deviceInWords, kindInWords, offInWords } from '../kernel/summary';
import { icon } from '../sidebar/panel';

/** What the button shows, and what a click does. */
interface IAppearance {
  words: string;
  about: string;
  click: 'start' | 'stop' | 'showNow';
}

export class TracingButton extends ReactWidget {
  constructor(
    private readonly session: NotebookSession,
    private readonly language: Language,
    private readonly clicks: Readonly<Record<IAppearance['click'], () => void>>
  ) {
    super();
    this.addClass('jp-ToolbarButton');
    this.addClass('jp-mlgpu-TracingButton');
    session.model.stateChanged.connect(this.refresh, this);
    language.changed.connect(this.refresh, this);
    this.refresh();
  }

  protected override render(): ReactElement {
    const { words, about, click } = this.shown;
    return (
      <button
        type="button"
        title={about}
        aria-label={words}
        data-click={click}
        // A click keeps the keyboard focus, as on JupyterLab's own buttons.
        onMouseDown={event => event.preventDefault()}
        onClick={this.clicks[click]}
      >
        {click === 'stop' ? (
          <span className="jp-mlgpu-TracingButton-dot" aria-hidden="true">
            ●
          </span>
        ) : (
          <icon.react tag="span" />
        )}
        <span className="jp-mlgpu-TracingButton-name">{words}</span>
      </button>
    );
  }

  /** Redraw only if the words have changed: the state changes twenty times a second. */
  private refresh(): void {
    const shown = this.appearance();
    const { words, about } = this.shown;
    if (shown.words !== words || shown.about !== about) {
      this.shown = shown;
      this.update();
    }
  }

  private appearance(): IAppearance {
    const { state } = this.session.model;
    const { t } = this.language;
    if (state.starting === 'loading' || canStart(state)) {
      const words = t(state.starting === 'loading' ? 'startingTracing' : 'startTracing');
      return { words, about: t('startTracing_about'), click: 'start' };
    }
    if (isTracing(state)) {
      return {
        words: t('tracingOn', { device: kindInWords(state, t) }),
        about: t('tracingOn_about', { device: deviceInWords(state, t) }),
        click: 'stop'
      };
    }
    return { words: offInWords(state, t), about: t('command_now_about'), click: 'showNow' };
  }

  private shown: IAppearance = { words: '', about: '', click: 'showNow' };
}
