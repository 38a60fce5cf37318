/** A notebook's device and its kernel's activity in a few words, for buttons. */

import type { Translate } from '../language/i18n';
import { inWords } from '../record/requested';
import { INSTALL_LINE, type ILoadProblem } from './loading';
import type { IState } from './state';

/** Return the requested device, such as `gpu`, or why there is none. */
export function deviceInWords(state: IState, t: Translate): string {
  if (state.kernel !== 'live') {
    return t(`summary_${state.kernel}`);
  }
  return inWords(state.device?.requested ?? []) || t('automatic');
}

/** Return whether a cell runs and whether cells are traced; empty if that is not known. */
export function activityInWords(state: IState, t: Translate): string {
  if (state.kernel !== 'live') {
    return '';
  }
  if (state.running.length > 0 || state.executing) {
    return t('summaryRunning');
  }
  return t(state.tracing === false ? 'summaryTracingOff' : 'stripIdle');
}

/** Return why tracing could not be started, and the remedy. */
export function problemInWords({ missing, why }: ILoadProblem, t: Translate): string {
  return missing ? t('startMissing', { line: INSTALL_LINE }) : t('notLoaded', { why });
}
