import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { INotebookModel } from '@jupyterlab/notebook';

import * as page from '../page';

import { PAGE_TYPE } from '../../src/page/page';
import { MIME_TYPE } from '../../src/record/record';
import { readSaved } from '../../src/kernel/saved';
import { nextTask, coalesced, sliceEnd } from '../../src/record/slices';
import { recordJson } from '../records';

/** A notebook as JupyterLab holds it, with one receipt under each cell. */
function notebookWith(receipts: number): INotebookModel {
  const cells = Array.from({ length: receipts }, (_, number) => {
    const output = { type: 'display_data', _rawData: { [MIME_TYPE]: recordJson(number) } };
    return { type: 'code', id: `cell-${number}`, outputs: { length: 1, get: () => output } };
  });
  return { cells } as unknown as INotebookModel;
}

test('a slice is over after 5 ms, so that two of them and their drawing fit into a frame of 16 ms', () => {
  assert.equal(sliceEnd() - performance.now(), 5 - 1);
});

test('a breath is a task of its own, and what is coalesced is called in one for all calls', async () => {
  let calls = 0;
  const call = coalesced(() => (calls += 1));
  const before = page.tasks;
  call();
  call();
  assert.equal(calls, 0);
  await nextTask();
  assert.equal(calls, 1);
  assert.equal(page.tasks - before, 2);
});

test('saved receipts are read in many tasks, each of a slice, and all of them are found', async () => {
  const before = page.tasks;
  const saved = await readSaved(notebookWith(1_000), new AbortController().signal);
  assert.equal(saved?.entries.length, 1_000);
  // A look at the clock after each receipt: with 1 ms a look, the sixth comes after the end of the slice.
  assert.equal(page.tasks - before, Math.floor(1_000 / 6));
});

test('between two slices the reading of saved receipts is given up where nobody wants it any more', async () => {
  const unwanted = new AbortController();
  const saved = readSaved(notebookWith(1_000), unwanted.signal);
  const before = page.tasks;
  unwanted.abort();
  assert.equal(await saved, null);
  assert.equal(page.tasks, before);
});

test('the newest fifty figures of a notebook are found with its receipts, in its order', async () => {
  const race = { schema: 1, kind: 'race', parts: [] };
  const cells = Array.from({ length: 60 }, (_, number) => {
    const output = {
      type: 'display_data',
      _rawData: { [PAGE_TYPE]: { ...race, title: `c${number}` } }
    };
    return { type: 'code', id: `cell-${number}`, outputs: { length: 1, get: () => output } };
  });
  const notebook = { cells } as unknown as INotebookModel;
  const saved = await readSaved(notebook, new AbortController().signal);
  const names = saved?.figures.map(figure => figure.page.title);
  assert.equal(names?.length, 50);
  assert.deepEqual([names[0], names.at(-1)], ['c10', 'c59']);
});
