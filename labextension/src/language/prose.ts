/** Sentences with code between backticks, and their plain or shortened text. */

interface IPart {
  text: string;
  code: boolean;
}

/** Split a sentence into text and code. A backtick without a partner is text. */
export function inParts(sentence: string): IPart[] {
  const parts = sentence.split('`');
  if (parts.length % 2 === 0) {
    const last = parts.splice(-2).join('`');
    parts.push(last);
  }
  return parts
    .map((text, index) => ({ text, code: index % 2 === 1 }))
    .filter(({ text }) => text !== '');
}

/** Return the commands between backticks in a sentence. */
export function commandsIn(sentence: string): string[] {
  return [...sentence.matchAll(/`((?:%|jupyter )[^`]+)`/g)].map(([, command = '']) => command);
}

/** Return a sentence without backticks, for titles, labels and notifications. */
export function plain(sentence: string): string {
  return inParts(sentence)
    .map(({ text }) => text)
    .join('');
}

const SENTENCES = /^.+[.!?](?= )|^.+[。！？]/s;

/** At most `limit` characters of a text: all of it, its first sentences, or its first words and `…`. */
export function opening(text: string, limit: number): string {
  if (text.length <= limit) {
    return text;
  }
  const whole = SENTENCES.exec(text.slice(0, limit + 1))?.[0];
  return whole !== undefined && whole.length <= limit
    ? whole
    : `${text.slice(0, limit - 1).replace(/\s+\S*$/, '')}…`;
}
