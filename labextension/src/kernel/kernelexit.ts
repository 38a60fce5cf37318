/** The exit cause of a kernel, from the server (jupyter_mlgpu/jupyter/server/exits.py). */

import type { ServerConnection } from '@jupyterlab/services';

import { readKernelExit as readKnown, type IKernelExit } from './messages';
import { fetchFromServer } from '../language/server';
import { object } from '../language/untrusted';

export type { IKernelExit } from './messages';

/** Read the server's answer; null if the cause is not known. */
export function readKernelExit(answer: unknown): IKernelExit | null {
  return readKnown(object(answer)?.death);
}

/** Ask the server why a kernel died; null if it does not know or has no extension of ours. */
export async function fetchKernelExit(
  kernelId: string,
  settings: ServerConnection.ISettings
): Promise<IKernelExit | null> {
  try {
    const path = `deaths/${encodeURIComponent(kernelId)}`;
    const answer = await fetchFromServer(path, {}, undefined, settings);
    return answer.ok ? readKernelExit(await answer.json()) : null;
  } catch {
    return null;
  }
}
