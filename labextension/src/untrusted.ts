/**
 * Reading what nobody vouches for: each function answers a bounded value of the type it promises, or
 * null.
 */

const SHORT = 120;

/** Lists of things that a person reads one by one. */
export const FEW = 64;

/** Sentences. */
export const LONG = 600;

/** Texts in a table of them, and how long each can be. */
const MANY_TEXTS = 5_000;
const LONGEST_TEXT = 5_000;

export function object(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

/** Why data cannot be read: it is none of ours, or a later version's. */
export type Unreadable = 'newer' | 'invalid';

/** What says its version, if that is one that we read; else why it cannot be read. */
export function versioned(value: unknown, newest: number): Record<string, unknown> | Unreadable {
  const table = object(value);
  const schema = count(table?.schema);
  if (table === null || schema === null) {
    return 'invalid';
  }
  return schema > newest ? 'newer' : table;
}

export function text(value: unknown, limit = SHORT): string | null {
  if (typeof value !== 'string') {
    return null;
  }
  return value.length > limit ? `${value.slice(0, limit - 1)}…` : value;
}

/** A sentence of the kernel's: a text, or a table that has it beside what it was made of. */
export function sentence(value: unknown): string | null {
  return text(object(value)?.text ?? value, LONG);
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

/** A finite number of at least 0. */
export function amount(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}

export function count(value: unknown): number | null {
  return Number.isSafeInteger(value) ? amount(value) : null;
}

export function choice<T extends string>(value: unknown, choices: readonly T[]): T | null {
  return choices.find(known => known === value) ?? null;
}

export function list<T>(value: unknown, limit: number, read: (item: unknown) => T | null): T[] {
  const items: unknown[] = Array.isArray(value) ? value.slice(0, limit) : [];
  return items.map(read).filter(item => item !== null);
}

/** A list; null, not an empty list, for what is not known. */
export function listOrNull<T>(value: unknown, read: (item: unknown) => T | null): T[] | null {
  return Array.isArray(value) ? list(value, FEW, read) : null;
}

export function pairs<T>(value: unknown, read: (item: unknown) => T | null): [string, T][] {
  return list(Object.entries(object(value) ?? {}), FEW, entry => {
    const [name, item] = entry as [string, unknown];
    const known = read(item);
    return known === null ? null : [text(name) ?? '', known];
  });
}

/** A table of texts; those that are too long are left out. */
export function strings(value: unknown): [string, string][] {
  return Object.entries(object(value) ?? {})
    .slice(0, MANY_TEXTS)
    .filter(
      (entry): entry is [string, string] =>
        typeof entry[1] === 'string' && entry[1].length <= LONGEST_TEXT
    );
}

/** What most lines consist of, in which to look for others takes long. */
const PLAIN = /^[\x20-\x7e\n\t]*$/;

/** All control characters but line ends and tabs, and those that turn the direction of text around. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu;

function writtenOut(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
