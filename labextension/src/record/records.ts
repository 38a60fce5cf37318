/**
 * The records of a kernel, each in its place. They come in any order: the newest with a snapshot, older
 * ones page by page, and new ones meanwhile.
 */

import { firstWhere } from './sorting';
import type { IEntry } from '../kernel/state';

/** Records kept for a notebook; the oldest are let go beyond it. */
const CAPACITY = 20_000;

/** Records that follow each other, oldest first; null: one that cannot be read. */
export interface IPlaced {
  /** Place of the first of them. */
  first: number;
  /** The first place that the kernel still has a record for, and how many were there before it. */
  oldest: number;
  dropped: number;
  entries: (IEntry | null)[];
}

interface ISlot {
  place: number;
  entry: IEntry | null;
}

export class Records {
  /** Oldest first. */
  entries(): IEntry[] {
    const entries: IEntry[] = [];
    for (const { entry } of this.slots) {
      if (entry !== null) {
        entries.push(entry);
      }
    }
    return entries;
  }

  /** Records that the kernel has or had before the oldest one here. */
  get older(): number {
    const first = this.slots[0]?.place ?? this.oldest;
    return first === null || this.oldest === null
      ? 0
      : Math.max(0, first - this.oldest + this.dropped);
  }

  /** The last place before which records are missing that the kernel has; null where there is none. */
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

  /** A new record, or a newer version of one; behind all others where its place is not told. */
  put(entry: IEntry, told: number | null): void {
    const place = told ?? this.places.get(entry.key) ?? (this.slots.at(-1)?.place ?? -1) + 1;
    this.set(place, entry);
    this.trim();
  }

  /** Take in what a snapshot tells: it is newer than what is here, and what was cleared is in it no more. */
  takeNewest(page: IPlaced): void {
    const start = page.oldest - page.dropped;
    this.drop(this.slots.findLastIndex(({ place }) => place < start) + 1);
    this.take(page, () => true);
  }

  /** Take in older records: one that is here already is as new as they are. */
  takeOlder(page: IPlaced): void {
    this.take(page, place => this.slots[this.indexOf(place)]?.place !== place);
  }

  clear(): void {
    this.slots = [];
    this.places.clear();
    this.oldest = null;
    this.dropped = 0;
  }

  private take(page: IPlaced, wanted: (place: number) => boolean): void {
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

  /** Index of the first slot that is not before the place. */
  private indexOf(place: number): number {
    const { length } = this.slots;
    // Most come last.
    return (this.slots.at(-1)?.place ?? -1) < place
      ? length
      : firstWhere(0, length, index => (this.slots[index]?.place ?? 0) >= place);
  }

  private trim(): void {
    this.drop(this.slots.length - CAPACITY);
  }

  /** Let the oldest go. */
  private drop(count: number): void {
    for (const { entry } of this.slots.splice(0, Math.max(0, count))) {
      if (entry !== null) {
        this.places.delete(entry.key);
      }
    }
  }

  private slots: ISlot[] = [];
  private readonly places = new Map<string, number>();
  /** null until the kernel has told it. */
  private oldest: number | null = null;
  private dropped = 0;
}
