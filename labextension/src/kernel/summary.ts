/** A notebook's device and what its kernel does, in the few words of a button. */

import type { Translate } from '../language/i18n';
import { inWords } from '../record/requested';
import { INSTALL_LINE, type ILoadProblem } from './loading';
import type { IState } from './state';

/** The device asked for, as `gpu`, or why there is none. */
export function deviceInWords(state: IState, t: Translate): string {
  if (state.kernel !== 'live') {
    return t(`summary_${state.kernel}`);
  }
  return inWords(state.device?.requested ?? []) || t('automatic');
}

/** Whether a cell runs, and whether cells are traced; empty where that is not known. */
export function activityInWords(state: IState, t: Translate): string {
  if (state.kernel !== 'live') {
    return '';
  }
  if (state.running.length > 0 || state.executing) {
    return t('summaryRunning');
  }
  return t(state.tracing === false ? 'summaryTracingOff' : 'stripIdle');
}

/** Why tracing could not be started, and what to do about it. */
export function problemInWords({ missing, why }: ILoadProblem, t: Translate): string {
  return missing ? t('startMissing', { line: INSTALL_LINE }) : t('notLoaded', { why });
}
