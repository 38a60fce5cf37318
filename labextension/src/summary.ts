/** A notebook's device and what its kernel does, in the few words of a button. */

import type { Message, Translate } from './i18n';
import { inWords } from './requested';
import type { IState, KernelState } from './state';

const WITHOUT: Readonly<Record<Exclude<KernelState, 'live'>, Message>> = {
  none: 'summaryNoKernel',
  asking: 'summaryAsking',
  other: 'summaryNotPython',
  absent: 'summaryNotLoaded',
  silent: 'summarySilent',
  dead: 'summaryDead'
};

/** The device asked for, as `gpu`, or why there is none. */
export function deviceInWords(state: IState, t: Translate): string {
  if (state.kernel !== 'live') {
    return t(WITHOUT[state.kernel]);
  }
  return inWords(state.device?.requested ?? []) || t('summaryAnyDevice');
}

/** Whether a cell runs, and whether cells are traced; empty where that is not known. */
export function activityInWords(state: IState, t: Translate): string {
  if (state.kernel !== 'live') {
    return '';
  }
  if (state.running.length > 0) {
    return t('summaryRunning');
  }
  return t(state.tracing === false ? 'summaryTracingOff' : 'summaryIdle');
}
