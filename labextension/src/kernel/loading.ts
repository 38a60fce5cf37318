/** Loads the extension in a kernel, as `%load_ext jupyter_mlgpu` does, but without a cell. */

import type { ISessionContext } from '@jupyterlab/apputils';
import { PageConfig } from '@jupyterlab/coreutils';

import { runSilently } from './silently';

/** The line that installs the package in the kernel, from where the server got it. */
export const INSTALL_LINE = PageConfig.getOption('jupyterMlgpuInstall');

/** Why the extension could not be loaded. */
export interface ILoadProblem {
  /** True if the kernel's Python has no such package. */
  missing: boolean;
  why: string;
}

/**
 * Python code that loads the extension. The notebook's folder is left out of the path, because a file
 * jupyter_mlgpu.py in it would be imported instead.
 */
const CODE = `
import sys
from IPython import get_ipython
path = sys.path[:]
sys.path[:] = [part for part in path if part]
try:
    problem = get_ipython().extension_manager.load_extension("jupyter_mlgpu")
finally:
    sys.path[:] = path
if problem == "no load function":
    raise ImportError("The module jupyter_mlgpu that was found is no extension.")
`;

/** A JSON string is a valid Python string too. `exec` with its own names leaves the user's alone. */
const LOAD = `exec(${JSON.stringify(CODE)}, {})`;

/** Load the extension after the cells in the queue. Returns the reason if it failed, else null. */
export async function load(sessionContext: ISessionContext): Promise<ILoadProblem | null> {
  const problem = await runSilently(sessionContext, LOAD);
  return (
    problem && {
      missing: problem.error === 'ModuleNotFoundError' && problem.why.includes("'jupyter_mlgpu'"),
      why: problem.why
    }
  );
}
