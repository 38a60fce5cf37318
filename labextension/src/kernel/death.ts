/** Why a kernel died, as the server tells it. The Python side is jupyter_mlgpu/jupyter/server/deaths.py. */

import { ServerConnection } from '@jupyterlab/services';

import { sentence } from '../language/sentence';
import { object, oneOf, or, shape } from '../language/untrusted';
import type { Read } from '../language/untrusted';
import { readLogs } from '../record/logs';

/** Milliseconds after which a server that does not answer is waited for no more. */
const PATIENCE = 10_000;

const read = shape(
  { sentence, next: sentence },
  {
    confidence: or('open', oneOf('sure', 'likely', 'open')),
    /** Its last native lines, oldest first. */
    lines: value => readLogs(value)[0]
  }
);

export type IDeath = NonNullable<Read<typeof read>>;

/** Read the server's answer; null: nothing is known. */
export function readDeath(answer: unknown): IDeath | null {
  return read(object(answer)?.death) ?? null;
}

/** Ask the server why a kernel died; null where it does not know, or is one without our extension. */
export async function askDeath(
  kernelId: string,
  settings: ServerConnection.ISettings
): Promise<IDeath | null> {
  const url = `${settings.baseUrl}jupyter-mlgpu/deaths/${encodeURIComponent(kernelId)}`;
  const limit = { signal: AbortSignal.timeout(PATIENCE) };
  try {
    const answer = await ServerConnection.makeRequest(url, limit, settings);
    return answer.ok ? readDeath(await answer.json()) : null;
  } catch {
    return null;
  }
}
