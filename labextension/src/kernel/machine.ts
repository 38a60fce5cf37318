/**
 * Live counters of the server's machine, for notebooks whose kernel sends none
 * (jupyter_mlgpu/jupyter/server/machine.py).
 */

import type { ServerConnection } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';

import { fetchFromServer } from '../language/server';
import { Counters, readCountersEvent } from './counters';

/** Seconds between two requests, as between two samples of a kernel, and after a request that failed. */
const INTERVAL = 0.5;
const AFTER_FAILURE = 10;

/** A source of live counters that runs only while somebody views it. */
export interface ICounterSource {
  readonly counters: Counters;
  /** Start or stop viewing. The function that may be returned ends it when the view goes. */
  requestCounters(on: boolean): (() => void) | undefined;
}

/** The machine of the page's one server. */
export class Machine implements ICounterSource {
  constructor(private readonly settings: ServerConnection.ISettings) {}

  readonly counters = new Counters();

  /** True if the server has no extension of ours. */
  get isUnknown(): boolean {
    return this.unknown;
  }

  readonly unknownChanged = new Signal<this, void>(this);

  requestCounters(on: boolean): (() => void) | undefined {
    if (!on) {
      return undefined;
    }
    this.viewers += 1;
    if (this.viewers === 1) {
      void this.ask();
    }
    return () => {
      this.viewers -= 1;
      if (this.viewers === 0) {
        clearTimeout(this.timer);
      }
    };
  }

  private async ask(): Promise<void> {
    if (this.asking || this.unknown) {
      return;
    }
    this.asking = true;
    const begun = performance.now();
    clearTimeout(this.timer);
    let pause = isOutOfSight() ? INTERVAL : AFTER_FAILURE;
    try {
      if (isOutOfSight()) {
        return;
      }
      const answer = await fetchFromServer('machine', {}, undefined, this.settings);
      if (answer.ok) {
        const event = readCountersEvent(await answer.json());
        if (event !== null) {
          this.counters.add(event);
          pause = INTERVAL;
        }
      } else if (answer.status === 404) {
        this.unknown = true;
        this.unknownChanged.emit();
      }
    } catch {
      // JupyterLab itself reports a lost server.
    } finally {
      this.asking = false;
      if (this.viewers > 0) {
        const wait = pause * 1000 - (performance.now() - begun);
        this.timer = setTimeout(() => void this.ask(), Math.max(0, wait));
      }
    }
  }

  private asking = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private unknown = false;
  private viewers = 0;
}

/** Return true if the page is in a background tab or minimized. */
function isOutOfSight(): boolean {
  return 'document' in globalThis && document.hidden;
}
