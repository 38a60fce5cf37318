/** Requests to the server extension of jupyter_mlgpu. */

import { ServerConnection } from '@jupyterlab/services';

/** Send a request to `jupyter-mlgpu/<path>`; rejects after `patience` milliseconds without an answer. */
export function fetchFromServer(
  path: string,
  init: RequestInit = {},
  patience = 10_000,
  settings = ServerConnection.makeSettings()
): Promise<Response> {
  const url = `${settings.baseUrl}jupyter-mlgpu/${path}`;
  return ServerConnection.makeRequest(
    url,
    { ...init, signal: AbortSignal.timeout(patience) },
    settings
  );
}
