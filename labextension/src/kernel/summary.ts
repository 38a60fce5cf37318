/** A notebook's device and its kernel's activity in a few words, for buttons. */

import type { Translate } from '../language/i18n';
import { dotted } from '../record/format';
import { inWords } from '../record/requested';
import { INSTALL_LINE, type ILoadProblem } from './loading';
import { isTracing, type IState } from './state';

const KINDS = { cpu: 'CPU', gpu: 'GPU' };

/** Return the requested device, such as `gpu:1`, or that the frameworks choose. */
export function deviceInWords({ device }: IState, t: Translate): string {
  return inWords(device?.requested ?? []) || t('automatic');
}

/** Return the device that new work goes to: `CPU` or `GPU`, or the request if they do not say it. */
export function kindInWords(state: IState, t: Translate): string {
  const kind = state.device?.kind ?? null;
  return kind === null ? deviceInWords(state, t) : KINDS[kind];
}

/** Return why cells are not traced: tracing is off, or the kernel cannot be traced. */
export function offInWords({ kernel }: IState, t: Translate): string {
  return t(`summary_${kernel === 'live' ? 'absent' : kernel}`);
}

/** Return whether cells are traced, on which device, and whether one runs; or why they are not. */
export function statusInWords(state: IState, t: Translate): string {
  if (!isTracing(state)) {
    return t('summaryName', { state: offInWords(state, t) });
  }
  const running = state.running.length > 0 || state.executing;
  return dotted(
    t('tracingOn', { device: kindInWords(state, t) }),
    t(running ? 'summaryRunning' : 'stripIdle')
  );
}

/** Return why tracing could not be started, and the remedy. */
export function problemInWords({ missing, why }: ILoadProblem, t: Translate): string {
  return missing ? t('startMissing', { line: INSTALL_LINE }) : t('notLoaded', { why });
}
