/**
 * Reading what nobody vouches for: each function answers a bounded value of the type it promises, or
 * null.
 */

const SHORT = 120;

/** Lists of things that a person reads one by one. */
export const FEW = 64;

/** Texts that a notebook keeps for those who cannot draw them. */
const WHOLE = 20_000;

/** Sentences. */
export const LONG = 600;

export function object(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

/** Why data cannot be read: it is none of ours, or a later version's. */
export type Unreadable = 'newer' | 'invalid';

/** A table that says its version, if that is the one we read; else why it cannot be read. */
export function versioned(value: unknown, known: number): Record<string, unknown> | Unreadable {
  const table = object(value);
  const schema = count(table?.schema);
  if (table === null || schema === null || schema < known) {
    return 'invalid';
  }
  return schema > known ? 'newer' : table;
}

export function text(value: unknown, limit = SHORT): string | null {
  if (typeof value !== 'string') {
    return null;
  }
  return value.length > limit ? `${value.slice(0, limit - 1)}…` : value;
}

/**
 * Text that was printed by a program, with the characters that one does not see written out: control
 * characters, and those that make a line read in another order than it was printed in.
 */
export function printed(value: unknown, limit: number): string | null {
  // Of a text of megabytes no more is looked at than may be shown: a line end can be of two characters.
  const cut =
    typeof value === 'string'
      ? text(value.slice(0, 2 * limit + 2).replaceAll('\r\n', '\n'), limit)
      : null;
  return cut === null || PLAIN.test(cut) ? cut : cut.replace(UNSEEN, writtenOut);
}

/** A text as a notebook has one: whole, or a line an item. */
export function savedText(value: unknown): string {
  const whole: unknown = Array.isArray(value) ? value.join('') : value;
  return printed(whole, WHOLE) ?? '';
}

/** A finite number. */
export function finite(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** A finite number of at least 0. */
export function amount(value: unknown): number | null {
  const known = finite(value);
  return known !== null && known >= 0 ? known : null;
}

/** An amount that is no larger. */
export function upTo(most: number): Reader<number> {
  return value => {
    const known = amount(value);
    return known !== null && known <= most ? known : null;
  };
}

export function count(value: unknown): number | null {
  return Number.isSafeInteger(value) ? amount(value) : null;
}

export function choice<T extends string | boolean>(
  value: unknown,
  choices: readonly T[]
): T | null {
  return choices.find(known => known === value) ?? null;
}

export function list<T>(value: unknown, limit: number, read: (item: unknown) => T | null): T[] {
  const items: unknown[] = Array.isArray(value) ? value.slice(0, limit) : [];
  return items.map(item => read(item)).filter(item => item !== null);
}

export function pairs<T>(value: unknown, read: (item: unknown) => T | null): [string, T][] {
  return list(Object.entries(object(value) ?? {}), FEW, entry => {
    const [name, item] = entry as [string, unknown];
    const known = read(item);
    return known === null ? null : [text(name) ?? '', known];
  });
}

/** Reads a value; null: it is none of its kind. */
export type Reader<T> = (value: unknown) => T | null;

/** What a reader answers of what it can read. */
export type Read<R extends Reader<unknown>> = NonNullable<ReturnType<R>>;

type Fields = Record<string, Reader<unknown> & { key?: string }>;

/** What is read by fields that are needed, and by others. */
type Table<N extends Fields, F extends Fields> = { [K in keyof N]: Read<N[K]> } & {
  [K in keyof F]: ReturnType<F[K]>;
};

/**
 * Reads a table: a field `whyMissing` stands there as `why_missing`. Without one of those `needed` it is no such
 * table; of the others each has what its reader answers.
 */
export function shape<N extends Fields, F extends Fields>(
  needed: N,
  others: F
): Reader<Table<N, F>> {
  const fields = Object.entries({ ...needed, ...others }).map(([name, read]) => {
    const key = read.key ?? name.replace(/[A-Z]/g, capital => `_${capital.toLowerCase()}`);
    return { name, key, read, needed: name in needed };
  });
  return data => {
    const table = object(data);
    if (table === null) {
      return null;
    }
    const found: Record<string, unknown> = {};
    for (const { name, key, read, needed } of fields) {
      const value = read(table[key]);
      if (value === null && needed) {
        return null;
      }
      found[name] = value;
    }
    return found as never;
  };
}

/** A field that has another name there than here. */
export function named<T>(
  key: string,
  read: (value: unknown) => T
): ((value: unknown) => T) & { key: string } {
  return Object.assign((value: unknown) => read(value), { key });
}

/** What stands for a value that cannot be read. */
export function or<T>(fallback: T, read: Reader<T>): (value: unknown) => T {
  return value => read(value) ?? fallback;
}

/** Reads what is no table as an empty one: of a `shape` that needs nothing. */
export function orEmpty<T>(read: Reader<T>): (value: unknown) => T {
  return value => read(value) ?? (read({}) as T);
}

/** What has something in it. */
export function notEmpty<T>(read: Reader<T>): Reader<T> {
  return value => read(value) || null;
}

/** A text that is not empty. */
export const word = notEmpty((value: unknown) => text(value));

export function textIn(limit: number): Reader<string> {
  return value => text(value, limit);
}

/** Whether it is this. */
export function is(one: unknown): (value: unknown) => boolean {
  return value => value === one;
}

/** Whether it is true; what is no truth value counts as false. */
export const flag = is(true);

export function oneOf<T extends string | boolean>(...choices: T[]): Reader<T> {
  return value => choice(value, choices);
}

export function printedIn(limit: number): Reader<string> {
  return value => printed(value, limit);
}

export function listOf<T>(read: Reader<T>, limit = FEW): (value: unknown) => T[] {
  return value => list(value, limit, read);
}

/** A list; null, not an empty list, for what is not known. */
export function listOrNullOf<T>(read: Reader<T>, limit = FEW): Reader<T[]> {
  return value => (Array.isArray(value) ? list(value, limit, read) : null);
}

/** A list of different things, each in its place, of which the first `needed` have to be there. */
export function tupleOf<T extends unknown[]>(
  needed: number,
  ...reads: { [K in keyof T]: Reader<T[K]> }
): Reader<T> {
  return value => {
    const items: unknown[] = Array.isArray(value) ? value : [];
    const found = reads.map((read: Reader<unknown>, place) => read(items[place]));
    return found.slice(0, needed).includes(null) ? null : (found as T);
  };
}

/** The same of a list whose items have names here, those `needed` first. */
export function rowOf<N extends Fields, F extends Fields>(
  needed: N,
  others: F
): Reader<Table<N, F>> {
  const reads = Object.entries({ ...needed, ...others });
  const read = tupleOf(Object.keys(needed).length, ...reads.map(([, one]) => one));
  return value => {
    const found = read(value);
    return found && (Object.fromEntries(reads.map(([name], at) => [name, found[at]])) as never);
  };
}

/** A list whose items keep their places: what cannot be read of them is null. */
export function placesOf<T>(read: Reader<T>, limit = FEW): Reader<(T | null)[]> {
  return value => (Array.isArray(value) ? value.slice(0, limit).map(item => read(item)) : null);
}

/** The last items of a list. */
export function newestOf<T>(read: Reader<T>, limit: number): Reader<T[]> {
  return value => (Array.isArray(value) ? list(value.slice(-limit), limit, read) : null);
}

/** A list of no more than `limit` items, each of which can be read. */
export function allOf<T>(read: Reader<T>, limit: number): Reader<T[]> {
  return value => {
    const known = list(value, limit, read);
    return Array.isArray(value) && value.length === known.length ? known : null;
  };
}

/** What the first of these readers makes of it that can read it. */
export function anyOf<T>(...reads: Reader<T>[]): Reader<T> {
  return value => reads.reduce<T | null>((found, read) => found ?? read(value), null);
}

export function pairsOf<T>(read: Reader<T>): (value: unknown) => [string, T][] {
  return value => pairs(value, read);
}

/** What most lines consist of, in which to look for others takes long. */
const PLAIN = /^[\x20-\x7e\n\t]*$/;

/** All control characters but line ends and tabs, and those that turn the direction of text around. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu;

function writtenOut(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
