/**
 * The records of a kernel by their places. They arrive in any order: the newest with a snapshot, older ones
 * in pages, and new ones meanwhile.
 */

import { firstWhere } from './sorting';
import type { IEntry } from '../kernel/state';

/** Largest number of records kept for a notebook; the oldest are dropped. */
const CAPACITY = 20_000;

/** Consecutive records, oldest first; null for one that cannot be read. */
export interface IRecordRange {
  /** Place of the first record. */
  first: number;
  /** First place that the kernel still has a record for, and the number of records dropped before it. */
  oldest: number;
  dropped: number;
  entries: (IEntry | null)[];
}

interface ISlot {
  place: number;
  entry: IEntry | null;
}

export class Records {
  /** Return the readable records, oldest first. */
  entries(): IEntry[] {
    const entries: IEntry[] = [];
    for (const { entry } of this.slots) {
      if (entry !== null) {
        entries.push(entry);
      }
    }
    return entries;
  }

  /** Number of records, kept or dropped by the kernel, before the oldest one here. */
  get older(): number {
    const first = this.slots[0]?.place ?? this.oldest;
    return first === null || this.oldest === null
      ? 0
      : Math.max(0, first - this.oldest + this.dropped);
  }

  /** The last place before which records of the kernel are missing here; null if none is missing. */
  get missing(): number | null {
    if (this.oldest === null || this.slots.length >= CAPACITY) {
      return null;
    }
    for (let index = this.slots.length - 1; index >= 0; index--) {
      const place = this.slots[index]?.place ?? 0;
      const before = this.slots[index - 1]?.place ?? -1;
      if (place - Math.max(before, this.oldest - 1) > 1) {
        return place;
      }
    }
    return null;
  }

  /** Add or replace a record; without a place it is added at the end. */
  put(entry: IEntry, knownPlace: number | null): void {
    const place = knownPlace ?? this.places.get(entry.key) ?? (this.slots.at(-1)?.place ?? -1) + 1;
    this.set(place, entry);
    this.trim();
  }

  /** Add the records of a snapshot. It is newer than those here, and drops records that were cleared. */
  takeNewest(page: IRecordRange): void {
    const start = page.oldest - page.dropped;
    this.drop(this.slots.findLastIndex(({ place }) => place < start) + 1);
    this.take(page, () => true);
  }

  /** Add older records, except those that are here already. */
  takeOlder(page: IRecordRange): void {
    this.take(page, place => this.slots[this.indexOf(place)]?.place !== place);
  }

  clear(): void {
    this.slots = [];
    this.places.clear();
    this.oldest = null;
    this.dropped = 0;
  }

  private take(page: IRecordRange, wanted: (place: number) => boolean): void {
    this.oldest = page.oldest;
    this.dropped = page.dropped;
    page.entries.forEach((entry, index) => {
      if (wanted(page.first + index)) {
        this.set(page.first + index, entry);
      }
    });
    this.trim();
  }

  private set(place: number, entry: IEntry | null): void {
    const index = this.indexOf(place);
    const there = this.slots[index];
    this.slots.splice(index, there?.place === place ? 1 : 0, { place, entry });
    if (entry !== null) {
      this.places.set(entry.key, place);
    }
  }

  /** Return the index of the first slot that is not before the place. */
  private indexOf(place: number): number {
    const { length } = this.slots;
    // Most records are added at the end.
    return (this.slots.at(-1)?.place ?? -1) < place
      ? length
      : firstWhere(0, length, index => (this.slots[index]?.place ?? 0) >= place);
  }

  private trim(): void {
    this.drop(this.slots.length - CAPACITY);
  }

  /** Drop the oldest records. */
  private drop(count: number): void {
    for (const { entry } of this.slots.splice(0, Math.max(0, count))) {
      if (entry !== null) {
        this.places.delete(entry.key);
      }
    }
  }

  private slots: ISlot[] = [];
  private readonly places = new Map<string, number>();
  /** null until the kernel has sent it. */
  private oldest: number | null = null;
  private dropped = 0;
}
