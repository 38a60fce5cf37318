/** The exit cause of a kernel, from the server (jupyter_mlgpu/jupyter/server/exits.py). */

import type { ServerConnection } from '@jupyterlab/services';

import { readKernelExit as readKnown, type IKernelExit } from './messages';
import { fetchFromServer } from '../language/server';
import { object } from '../language/untrusted';

export type { IKernelExit } from './messages';

/** The MIME type of the output under the cell in which a kernel died. */
export const EXIT_MIME_TYPE = 'application/vnd.jupyter-mlgpu.exit+json';

/** Read the server's answer; null if the cause is not known. */
export function readKernelExit(answer: unknown): IKernelExit | null {
  return readKnown(object(answer)?.death);
}

/**
 * Ask the server why a kernel died, and for the output for under the cell that ran, whose text is in the given
 * language; without a language for no output. Null if the server does not know or has no extension of ours.
 */
export async function fetchKernelExit(
  kernelId: string,
  language: string | null,
  settings: ServerConnection.ISettings
): Promise<{ exit: IKernelExit | null; output: Record<string, unknown> | null }> {
  try {
    const query = language === null ? '' : `?language=${encodeURIComponent(language)}`;
    const path = `deaths/${encodeURIComponent(kernelId)}${query}`;
    const response = await fetchFromServer(path, {}, undefined, settings);
    const answer: unknown = response.ok ? await response.json() : null;
    const output = object(object(answer)?.output);
    return { exit: readKernelExit(answer), output };
  } catch {
    return { exit: null, output: null };
  }
}
