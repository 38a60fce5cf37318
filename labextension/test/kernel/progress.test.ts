import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { progressIn, type ICellText, type IProgress } from '../../src/kernel/progress';

interface ICase {
  of: string;
  cells: ICellText[];
  progress: IProgress | null;
}

/** Which Python counts, too: tests/teach/test_lesson_progress.py. */
const CASES = JSON.parse(readFileSync('../tests/data/progress.json', 'utf-8')) as ICase[];

for (const { of, cells, progress } of CASES) {
  test(`progress is counted in ${of}`, () => {
    assert.deepEqual(progressIn(cells), progress);
  });
}
