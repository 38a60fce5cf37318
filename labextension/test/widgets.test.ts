/** The styles of the controls for other notebooks, where no theme of JupyterLab gives their variables a value. */

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import test from 'node:test';

const styles = readdirSync('style')
  .filter(name => name.endsWith('.css'))
  .map(name => readFileSync(`style/${name}`, 'utf8'))
  .join('\n');

function names(pattern: RegExp): Set<string> {
  return new Set([...styles.matchAll(pattern)].map(match => match[1] ?? ''));
}

test('every variable of the theme that a style uses has a value outside JupyterLab', () => {
  const used = names(/var\((--jp-[\w-]+)/g);
  const given = names(/^ {2}(--jp-[\w-]+):/gm);
  assert.ok(used.size > 10);
  assert.deepEqual(
    [...used].filter(name => !given.has(name)),
    []
  );
});
