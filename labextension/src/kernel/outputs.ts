/** Reads a notebook's outputs without copying them. */

import type { ICodeCellModel } from '@jupyterlab/cells';
import type { INotebookModel } from '@jupyterlab/notebook';

import { object } from '../language/untrusted';

type Output = ReturnType<ICodeCellModel['outputs']['get']>;

/** Yield the current outputs of the code cells, with their data by MIME type; null for streams. */
export function* outputsOf(
  notebook: INotebookModel
): Generator<{ cell: ICodeCellModel; data: Record<string, unknown> | null }> {
  for (const cell of [...notebook.cells]) {
    if (cell.type !== 'code') {
      continue;
    }
    const { outputs } = cell as ICodeCellModel;
    for (let index = 0; index < outputs.length; index++) {
      yield { cell: cell as ICodeCellModel, data: dataOf(outputs.get(index)) };
    }
  }
}

/** Add an output of ours after the others of a cell, unless the cell is gone or has one of this type. */
export function addOutput(
  notebook: INotebookModel,
  cellId: string,
  type: string,
  data: Record<string, unknown>
): void {
  const ours = [...outputsOf(notebook)].some(
    one => one.cell.id === cellId && one.data !== null && type in one.data
  );
  const cell = [...notebook.cells].find(({ id }) => id === cellId);
  if (cell?.type !== 'code' || ours) {
    return;
  }
  const { outputs } = cell as ICodeCellModel;
  const before = outputs.toJSON();
  const output = { output_type: 'display_data', data, metadata: {} } as Parameters<
    typeof outputs.add
  >[0];
  outputs.add(output);
  // After `clear_output(wait=True)` the next output replaces the others.
  if (outputs.length <= before.length) {
    outputs.fromJSON([...before, output]);
  }
}

/**
 * Return the data of an output by MIME type; null for streams, which may be long.
 *
 * JupyterLab 4 copies the data on each access to `data` and `toJSON`, which blocks the page for an output of
 * 10 MB. Its private `_rawData` is used where it exists, else the copy.
 */
export function dataOf(output: Output): Record<string, unknown> | null {
  if (output.type !== 'display_data' && output.type !== 'execute_result') {
    return null;
  }
  const own = object((output as { _rawData?: unknown })._rawData);
  return own ?? object(output.toJSON().data);
}
