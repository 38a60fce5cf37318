/** Why a kernel died, as the server tells it (jupyter_mlgpu/jupyter/server/exits.py). */

import type { ServerConnection } from '@jupyterlab/services';

import { readKernelExit as readKnown, type IKernelExit } from './messages';
import { fetchFromServer } from '../language/server';
import { object } from '../language/untrusted';

export type { IKernelExit } from './messages';

/** Read the server's answer; null: nothing is known. */
export function readKernelExit(answer: unknown): IKernelExit | null {
  return readKnown(object(answer)?.death);
}

/** Ask the server why a kernel died; null where it does not know, or is one without our extension. */
export async function askDeath(
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
