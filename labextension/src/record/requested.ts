/** Requested devices in records and from kernels (jupyter_mlgpu/record/device_request.py). */

/** Devices by framework; `*` is every other framework. Empty if each framework chooses. */
export type Requested = readonly (readonly [framework: string, device: string])[];

const EVERY = '*';

/** The word that leaves the choice to the framework. */
export const AUTO = 'auto';

/** Return `gpu:0`, or `torch gpu:0, jax cpu:0` if frameworks differ; empty if none was requested. */
export function inWords(requested: Requested): string {
  return requested
    .map(([framework, device]) => (framework === EVERY ? device : `${framework} ${device}`))
    .join(', ');
}
