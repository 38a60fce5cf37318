/**
 * The output under a cell that offers a restart of the kernel: its shape and its reader.
 *
 * It comes from jupyter_mlgpu/jupyter/notebook/magics/restart.py.
 */

import { sentence, type Sentence } from '../language/sentence';
import { object, or, shape, type Read } from '../language/untrusted';

export const RESTART_MIME_TYPE = 'application/vnd.jupyter-mlgpu.restart+json';

/** Largest number of characters of a sentence, which may hold a cell to copy. */
const LIMIT = 2_000;

const readWords = (value: unknown): Sentence | null => sentence(value, LIMIT);

const readSentences = shape(
  /** Why a restart is needed, and what to do before it. */
  { sentence: value => readWords(value) || null },
  /** Instructions to restart without the button. */
  { byHand: or('', readWords) }
);

export interface IRestartHint extends Read<typeof readSentences> {
  /** Arguments of `%mlc_trace verbose` for the new kernel; null if there are none. */
  verbose: string | null;
}

/** Read a hint; null for anything else. */
export function readRestartHint(data: unknown): IRestartHint | null {
  const sentences = readSentences(data);
  const verbose = object(data)?.verbose ?? null;
  return sentences && (verbose === null || isWords(verbose)) ? { ...sentences, verbose } : null;
}

/** Return Python code that passes arguments of `%mlc_trace verbose` to a new kernel, which checks them. */
export function preparation(verbose: string): string {
  // A JSON string is a valid Python string too.
  const words = JSON.stringify(verbose);
  return `__import__("jupyter_mlgpu.jupyter.notebook.magics.restart", fromlist=["prepare"]).prepare(${words})`;
}

/** Return true for one line of plain characters, which the user can check before agreeing. */
function isWords(value: unknown): value is string {
  return typeof value === 'string' && /^[ -~]{1,200}$/.test(value);
}
