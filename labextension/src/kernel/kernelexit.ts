/** Why a kernel died, as the server tells it (jupyter_mlgpu/jupyter/server/exits.py). */

import { ServerConnection } from '@jupyterlab/services';

import { readKernelExit as readKnown, type IKernelExit } from './messages';
import { object } from '../language/untrusted';

export type { IKernelExit } from './messages';

/** Milliseconds after which a server that does not answer is waited for no more. */
const PATIENCE = 10_000;

/** Read the server's answer; null: nothing is known. */
export function readKernelExit(answer: unknown): IKernelExit | null {
  return readKnown(object(answer)?.death);
}

/** Ask the server why a kernel died; null where it does not know, or is one without our extension. */
export async function askDeath(
  kernelId: string,
  settings: ServerConnection.ISettings
): Promise<IKernelExit | null> {
  const url = `${settings.baseUrl}jupyter-mlgpu/deaths/${encodeURIComponent(kernelId)}`;
  const limit = { signal: AbortSignal.timeout(PATIENCE) };
  try {
    const answer = await ServerConnection.makeRequest(url, limit, settings);
    return answer.ok ? readKernelExit(await answer.json()) : null;
  } catch {
    return null;
  }
}
