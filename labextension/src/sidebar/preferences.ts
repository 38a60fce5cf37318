/**
 * The user's preferences, for views and receipts that know nothing of JupyterLab's settings. lab/settings.ts
 * fills them in; until then the defaults hold.
 */

import { Signal } from '@lumino/signaling';

import { amount, flag, named, oneOf, or, orEmpty, shape, word } from '../language/untrusted';

/** Largest number of seconds between two updates of the gauges. */
const SLOWEST = 60;

/** Default and largest threshold in seconds for receipts; the default is the kernel's own. */
const RECEIPT_FROM = 0.1;
const LATEST = 1;

/** Read settings; an invalid value counts as not set. */
export const readPreferences = orEmpty(
  shape(
    {},
    {
      /** Side of the page for the sidebar. */
      position: or('right', oneOf('right', 'left')),
      /** True to trace every trusted notebook as soon as its kernel is ready. */
      traceAlways: named('traceAlways', flag),
      /** True to request live counters, from the first drawing of the gauges on. */
      liveGauges: named('liveGauges', value => value !== false),
      /** Smallest number of seconds between two updates of the gauges; 0 for every sample. */
      redrawSeconds: named('redrawSeconds', value => Math.min(amount(value) ?? 0, SLOWEST)),
      /** Initial state of a receipt: one line, open, or hidden. */
      receipt: or('line', oneOf('line', 'open', 'hidden')),
      /** Harmless native lines under a cell: folded into one line, shown in place, or all lines untouched. */
      nativeLines: named('nativeLines', or('fold', oneOf('fold', 'show', 'all'))),
      /** Seconds from which a cell gets a receipt for its time alone; 0 for all cells. */
      receiptSeconds: named('receiptSeconds', value =>
        Math.min(amount(value) ?? RECEIPT_FROM, LATEST)
      ),
      /** False to leave hot lines unmarked in the code. */
      lineHeat: named('lineHeat', value => value !== false),
      /** Seconds a cell has run before its end out of sight is notified; 0 for never. */
      notifyAfter: named('notifyAfter', value => amount(value) ?? 60),
      /** A language code, or `jupyterlab` for JupyterLab's language. */
      language: or('jupyterlab', word)
    }
  )
);

export type IPreferences = ReturnType<typeof readPreferences>;

export const DEFAULTS = readPreferences({});

class Preferences {
  /** An immutable value. */
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

/** One object for the page, because the plug-in and the receipts share a bundle. */
export const preferences = new Preferences();
