/**
 * What the server's machine does now, for as long as somebody can see it and no kernel tells it. It is
 * told by jupyter_mlgpu/jupyter/server/machine.py.
 */

import type { ServerConnection } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';

import { fetchFromServer } from '../language/server';
import { Counters, readCountersEvent } from './counters';

/** Seconds between two questions, and after one that was not answered. */
const INTERVAL = 1;
const AFTER_FAILURE = 10;

/** Live counters, and whoever looks at them. */
export interface IWatched {
  readonly counters: Counters;
  /** Whether they are to come from now on. Answers what ends that, where it ends with whoever samples. */
  watch(on: boolean): (() => void) | undefined;
}

/** One a page: all its notebooks are of one server. */
export class Machine implements IWatched {
  constructor(private readonly settings: ServerConnection.ISettings) {}

  readonly counters = new Counters(() => Date.now(), INTERVAL);

  /** The server turned out to be one without our extension. */
  get isUnknown(): boolean {
    return this.unknown;
  }

  readonly unknownChanged = new Signal<this, void>(this);

  watch(on: boolean): (() => void) | undefined {
    if (!on) {
      return undefined;
    }
    this.watchers += 1;
    if (this.watchers === 1) {
      void this.ask();
    }
    return () => {
      this.watchers -= 1;
      if (this.watchers === 0) {
        clearTimeout(this.timer);
      }
    };
  }

  private async ask(): Promise<void> {
    if (this.asking || this.unknown) {
      return;
    }
    this.asking = true;
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
      // JupyterLab itself says where its server is gone.
    } finally {
      this.asking = false;
      if (this.watchers > 0) {
        this.timer = setTimeout(() => void this.ask(), pause * 1000);
      }
    }
  }

  private asking = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private unknown = false;
  private watchers = 0;
}

/** The page is in a tab behind others, or in a small window's icon. */
function isOutOfSight(): boolean {
  return 'document' in globalThis && document.hidden;
}
