/** The beginning of a long text, to where a sentence ends. */

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
