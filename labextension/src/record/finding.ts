/** Finding words in very many texts. */

export type Finds = (text: string) => boolean;

/**
 * Finds words in texts, whatever their capitals; null for no words.
 *
 * It makes no copies of texts in small letters: those of 100,000 lines stop the page when they are collected.
 */
export function finder(words: string): Finds | null {
  const literally = words.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  if (literally === '') {
    return null;
  }
  const pattern = new RegExp(literally, 'i');
  return text => pattern.test(text);
}
