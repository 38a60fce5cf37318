/** Readers of untrusted data. Each function returns a bounded value of the type it promises, or null. */

const SHORT = 120;

/** Largest number of items in a list that a person reads one by one. */
export const FEW = 64;

/** Largest number of characters of a saved plain text. */
const WHOLE = 20_000;

/** Largest number of characters of a sentence. */
export const LONG = 600;

export function object(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

/** Why data cannot be read: they are invalid, or of a newer version. */
export type Unreadable = 'newer' | 'invalid';

/** Return a table if it has the known version; else why it cannot be read. */
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
 * Return text printed by a program, with invisible characters escaped: control characters, and those that
 * change the reading direction.
 */
export function printed(value: unknown, limit: number): string | null {
  // A long text is cut first; a line end may take two characters.
  const cut =
    typeof value === 'string'
      ? text(value.slice(0, 2 * limit + 2).replaceAll('\r\n', '\n'), limit)
      : null;
  return cut === null || PLAIN.test(cut) ? cut : cut.replace(UNSEEN, writtenOut);
}

/** Read a text as notebooks store it: whole, or as a list of lines. */
export function savedText(value: unknown): string {
  const whole: unknown = Array.isArray(value) ? value.join('') : value;
  return printed(whole, WHOLE) ?? '';
}

/** Read a finite number. */
export function finite(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** Read a finite number of at least 0. */
export function amount(value: unknown): number | null {
  const known = finite(value);
  return known !== null && known >= 0 ? known : null;
}

/** Return a reader of amounts up to a limit. */
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

/** Reads a value; null if it is not of the type. */
export type Reader<T> = (value: unknown) => T | null;

/** The type that a reader returns. */
export type Read<R extends Reader<unknown>> = NonNullable<ReturnType<R>>;

type Fields = Record<string, Reader<unknown> & { key?: string }>;

/** A table with its required and optional fields. */
type Table<N extends Fields, F extends Fields> = { [K in keyof N]: Read<N[K]> } & {
  [K in keyof F]: ReturnType<F[K]>;
};

/**
 * Return a reader of tables. The field `whyMissing` is `why_missing` in the data. The reader gives null
 * without one of the `needed` fields; the others have what their readers return.
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

/** Give a field another name in the data. */
export function named<T>(
  key: string,
  read: (value: unknown) => T
): ((value: unknown) => T) & { key: string } {
  return Object.assign((value: unknown) => read(value), { key });
}

/** Return a reader with a default for values that cannot be read. */
export function or<T>(fallback: T, read: Reader<T>): (value: unknown) => T {
  return value => read(value) ?? fallback;
}

/** Return a reader that reads anything else as an empty table, for a `shape` without required fields. */
export function orEmpty<T>(read: Reader<T>): (value: unknown) => T {
  return value => read(value) ?? (read({}) as T);
}

/** Return a reader that gives null for empty values. */
export function notEmpty<T>(read: Reader<T>): Reader<T> {
  return value => read(value) || null;
}

/** Read a text that is not empty. */
export const word = notEmpty((value: unknown) => text(value));

export function textIn(limit: number): Reader<string> {
  return value => text(value, limit);
}

/** Read a boolean; anything but true is false. */
export const flag = (value: unknown): boolean => value === true;

export function oneOf<T extends string | boolean>(...choices: T[]): Reader<T> {
  return value => choice(value, choices);
}

export function printedIn(limit: number): Reader<string> {
  return value => printed(value, limit);
}

export function listOf<T>(read: Reader<T>, limit = FEW): (value: unknown) => T[] {
  return value => list(value, limit, read);
}

/** Return a reader of lists that gives null, and not an empty list, for anything else. */
export function listOrNullOf<T>(read: Reader<T>, limit = FEW): Reader<T[]> {
  return value => (Array.isArray(value) ? list(value, limit, read) : null);
}

/** Return a reader of lists with a type for each place, of which the first `needed` are required. */
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

/** Return a reader of such lists as tables, the `needed` items first. */
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

/** Return a reader of lists that keeps places: unreadable items are null. */
export function placesOf<T>(read: Reader<T>, limit = FEW): Reader<(T | null)[]> {
  return value => (Array.isArray(value) ? value.slice(0, limit).map(item => read(item)) : null);
}

/** Return a reader of the last items of a list. */
export function newestOf<T>(read: Reader<T>, limit: number): Reader<T[]> {
  return value => (Array.isArray(value) ? list(value.slice(-limit), limit, read) : null);
}

/** Return a reader of lists that gives null if an item is unreadable or there are too many. */
export function allOf<T>(read: Reader<T>, limit: number): Reader<T[]> {
  return value => {
    const known = list(value, limit, read);
    return Array.isArray(value) && value.length === known.length ? known : null;
  };
}

/** Return a reader that takes the first result of several readers. */
export function anyOf<T>(...reads: Reader<T>[]): Reader<T> {
  return value => reads.reduce<T | null>((found, read) => found ?? read(value), null);
}

export function pairsOf<T>(read: Reader<T>): (value: unknown) => [string, T][] {
  return value => pairs(value, read);
}

/** Characters of most lines, checked first because the search for others is slow. */
const PLAIN = /^[\x20-\x7e\n\t]*$/;

/** Control characters except line ends and tabs, and characters that change the reading direction. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu;

function writtenOut(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
