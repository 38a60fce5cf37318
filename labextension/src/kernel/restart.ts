/**
 * What only a restart of the kernel brings, as it stands under a cell: its shape, and the only way in.
 *
 * It comes from jupyter_mlgpu/jupyter/notebook/magics/restart.py.
 */

import { sentence, type Sentence } from '../language/sentence';
import { object, or, shape, type Read } from '../language/untrusted';

export const RESTART_MIME_TYPE = 'application/vnd.jupyter-mlgpu.restart+json';

/** Characters of the sentences; they hold a cell to copy. */
const LIMIT = 2_000;

const readWords = (value: unknown): Sentence | null => sentence(value, LIMIT);

const readSentences = shape(
  /** Why a restart is needed, and what to do before it. */
  { sentence: value => readWords(value) || null },
  /** How to do it without the button. */
  { byHand: or('', readWords) }
);

export interface IRestartHint extends Read<typeof readSentences> {
  /** The words of `%mlc_trace verbose` for the fresh kernel; null: none. */
  verbose: string | null;
}

/** Read a hint; null for what is none. */
export function readRestartHint(data: unknown): IRestartHint | null {
  const sentences = readSentences(data);
  const verbose = object(data)?.verbose ?? null;
  return sentences && (verbose === null || isWords(verbose)) ? { ...sentences, verbose } : null;
}

/** The code that gives a fresh kernel the words of `%mlc_trace verbose`, which checks them itself. */
export function preparation(verbose: string): string {
  // What JSON writes as a text, Python reads as the same text.
  const words = JSON.stringify(verbose);
  return `__import__("jupyter_mlgpu.jupyter.notebook.magics.restart", fromlist=["prepare"]).prepare(${words})`;
}

/** One line of plain characters, so that what is asked about is all that is done. */
function isWords(value: unknown): value is string {
  return typeof value === 'string' && /^[ -~]{1,200}$/.test(value);
}
