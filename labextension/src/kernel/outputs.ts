/** What a notebook's outputs hold, without copying it. */

import type { ICodeCellModel } from '@jupyterlab/cells';
import type { INotebookModel } from '@jupyterlab/notebook';

import { object } from '../language/untrusted';

type Output = ReturnType<ICodeCellModel['outputs']['get']>;

/** Each output of the cells as they are now, with its data by MIME type; null for what was printed. */
export function* outputsOf(
  notebook: INotebookModel
): Generator<{ cell: ICodeCellModel; index: number; data: Record<string, unknown> | null }> {
  for (const cell of [...notebook.cells]) {
    if (cell.type !== 'code') {
      continue;
    }
    const { outputs } = cell as ICodeCellModel;
    for (let index = 0; index < outputs.length; index++) {
      yield { cell: cell as ICodeCellModel, index, data: dataOf(outputs.get(index)) };
    }
  }
}

/**
 * The data of an output by MIME type; null for what was printed, which may be long.
 *
 * What JupyterLab 4 gives with `data` and `toJSON` is copied each time: for an output of 10 MB the page would
 * stand still. It keeps what came under a name of its own; where a version does not, the copy is taken.
 */
export function dataOf(output: Output): Record<string, unknown> | null {
  if (output.type !== 'display_data' && output.type !== 'execute_result') {
    return null;
  }
  const own = object((output as { _rawData?: unknown })._rawData);
  return own ?? object(output.toJSON().data);
}
