/**
 * What the user has set: read by views and by receipts, which know nothing of JupyterLab's settings.
 * settings.ts fills it in; until then, and where the plug-in is not there, the defaults hold.
 */

import { Signal } from '@lumino/signaling';

import { amount, flag, named, oneOf, or, orEmpty, shape, word } from '../language/untrusted';

/** Seconds between two looks at the gauges that a setting can ask for at most. */
const SLOWEST = 60;

/** Seconds from which a cell always gets its receipt. */
const LATEST = 1;

/** Read settings; a value that is none of those offered counts as not set. */
export const readPreferences = orEmpty(
  shape(
    {},
    {
      /** On which side of the page the sidebar stands. */
      position: or('right', oneOf('right', 'left')),
      /** Whether each notebook that is trusted is traced as soon as its kernel is ready. */
      traceAlways: named('traceAlways', flag),
      /** Whether the kernel is asked for live readings, from the first look at the gauges on. */
      liveGauges: named('liveGauges', value => value !== false),
      /** Seconds between two drawings of the gauges, at least; 0: with each reading. */
      redrawSeconds: named('redrawSeconds', value => Math.min(amount(value) ?? 0, SLOWEST)),
      /** What a receipt under a cell is at first: a line, all that was measured, or nothing. */
      receipt: or('line', oneOf('line', 'open', 'hidden')),
      /** Harmless native lines under a cell: in one line, which opens, or in their places; or all there is. */
      nativeLines: named('nativeLines', or('fold', oneOf('fold', 'show', 'all'))),
      /** Seconds from which a cell gets a receipt for its time alone; 0: all cells get theirs. */
      receiptSeconds: named('receiptSeconds', value => Math.min(amount(value) ?? 0, LATEST)),
      /** Seconds that a cell has run before its end is told of where nobody sees it; 0: never. */
      notifyAfter: named('notifyAfter', value => amount(value) ?? 60),
      /** A language's code, or JupyterLab's language. */
      language: or('jupyterlab', word)
    }
  )
);

export type IPreferences = ReturnType<typeof readPreferences>;

export const DEFAULTS = readPreferences({});

class Preferences {
  /** A value that is replaced, never changed. */
  get current(): IPreferences {
    return this.values;
  }

  readonly changed = new Signal<this, void>(this);

  set(values: IPreferences): void {
    this.values = values;
    this.changed.emit();
  }

  private values = DEFAULTS;
}

/** One a page: the plug-in and the receipts are bundled together, and a module is loaded once. */
export const preferences = new Preferences();
