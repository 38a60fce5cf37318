/**
 * What the user has set: read by views and by receipts, which know nothing of JupyterLab's settings.
 * settings.ts fills it in; until then, and where the plug-in is not there, the defaults hold.
 */

import { Signal } from '@lumino/signaling';
import type { ISignal } from '@lumino/signaling';

import { amount, choice, object } from './untrusted';

const POSITIONS = ['right', 'left'] as const;
const RECEIPTS = ['line', 'open', 'hidden'] as const;
const LANGUAGES = ['jupyterlab', 'en', 'zh_CN'] as const;

/** Seconds between two looks at the gauges that a setting can ask for at most. */
const SLOWEST = 60;

export interface IPreferences {
  /** On which side of the page the sidebar stands. */
  position: (typeof POSITIONS)[number];
  /** Whether the kernel is asked for live readings while the gauges are in sight. */
  liveGauges: boolean;
  /** Seconds between two drawings of the gauges, at least; 0: with each reading. */
  redrawSeconds: number;
  /** What a receipt under a cell is at first: a line, all that was measured, or nothing. */
  receipt: (typeof RECEIPTS)[number];
  language: (typeof LANGUAGES)[number];
}

export const DEFAULTS: IPreferences = {
  position: 'right',
  liveGauges: true,
  redrawSeconds: 0,
  receipt: 'line',
  language: 'jupyterlab'
};

/** Read settings; a value that is none of those offered counts as not set. */
export function readPreferences(data: unknown): IPreferences {
  const table = object(data) ?? {};
  const seconds = amount(table.redrawSeconds) ?? DEFAULTS.redrawSeconds;
  return {
    position: choice(table.position, POSITIONS) ?? DEFAULTS.position,
    liveGauges: table.liveGauges !== false,
    redrawSeconds: Math.min(seconds, SLOWEST),
    receipt: choice(table.receipt, RECEIPTS) ?? DEFAULTS.receipt,
    language: choice(table.language, LANGUAGES) ?? DEFAULTS.language
  };
}

class Preferences {
  /** A value that is replaced, never changed. */
  get current(): IPreferences {
    return this.values;
  }

  get changed(): ISignal<this, void> {
    return this.changedSignal;
  }

  set(values: IPreferences): void {
    this.values = values;
    this.changedSignal.emit();
  }

  private values = DEFAULTS;
  private readonly changedSignal = new Signal<this, void>(this);
}

/** One a page: the plug-in and the receipts are bundled together, and a module is loaded once. */
export const preferences = new Preferences();
