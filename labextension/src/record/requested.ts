/** The devices asked for, as records and kernels tell them: jupyter_mlgpu/record/device_request.py. */

/** By framework; `*` is every framework that is not named. Empty: the frameworks choose. */
export type Requested = readonly (readonly [framework: string, device: string])[];

const EVERY = '*';

/** The word for no choice: a framework chooses by itself. */
export const AUTO = 'auto';

/** `gpu:0`, or `torch gpu:0, jax cpu:0` where frameworks differ; empty where none was asked for. */
export function inWords(requested: Requested): string {
  return requested
    .map(([framework, device]) => (framework === EVERY ? device : `${framework} ${device}`))
    .join(', ');
}
