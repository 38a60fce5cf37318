/** Loading the extension in a kernel, as `%load_ext jupyter_mlgpu` in a cell does, but without a cell. */

import type { ISessionContext } from '@jupyterlab/apputils';
import { PageConfig } from '@jupyterlab/coreutils';

import { runSilently } from './silently';

/** The line that installs what the kernel lacks, from where the server got it. */
export const INSTALL_LINE = PageConfig.getOption('jupyterMlgpuInstall');

/** Why the extension could not be loaded. */
export interface ILoadProblem {
  /** The kernel's Python has no such package. */
  missing: boolean;
  why: string;
}

/** A file jupyter_mlgpu.py beside the notebook is not what was asked for: its folder is not looked in. */
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

/** What JSON writes as a text, Python reads as the same text; names that it sets are not the user's. */
const LOAD = `exec(${JSON.stringify(CODE)}, {})`;

/** Load it after the cells that wait; answers why that failed, null where it did not. */
export async function load(sessionContext: ISessionContext): Promise<ILoadProblem | null> {
  const problem = await runSilently(sessionContext, LOAD);
  return (
    problem && {
      missing: problem.error === 'ModuleNotFoundError' && problem.why.includes("'jupyter_mlgpu'"),
      why: problem.why
    }
  );
}
