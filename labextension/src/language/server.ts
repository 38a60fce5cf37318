/** Requests to the server extension of jupyter_mlgpu. */

import { ServerConnection } from '@jupyterlab/services';

/** Send a request to `jupyter-mlgpu/<path>`; rejects after `timeout` milliseconds without an answer. */
export function fetchFromServer(
  path: string,
  init: RequestInit = {},
  timeout = 10_000,
  settings = ServerConnection.makeSettings()
): Promise<Response> {
  const url = `${settings.baseUrl}jupyter-mlgpu/${path}`;
  return ServerConnection.makeRequest(
    url,
    { ...init, signal: AbortSignal.timeout(timeout) },
    settings
  );
}
