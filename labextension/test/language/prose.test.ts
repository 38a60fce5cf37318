import assert from 'node:assert/strict';
import { test } from 'node:test';

import { commandsIn, inParts, plain } from '../../src/language/prose';

test('what stands between backticks is code, and the rest is text', () => {
  assert.deepEqual(inParts('Run `%mlc_device gpu` in a cell.'), [
    { text: 'Run ', code: false },
    { text: '%mlc_device gpu', code: true },
    { text: ' in a cell.', code: false }
  ]);
});

test('a backtick without a second one is left as it is', () => {
  assert.deepEqual(inParts('`a` and `b'), [
    { text: 'a', code: true },
    { text: ' and `b', code: false }
  ]);
  assert.equal(plain('a ` b'), 'a ` b');
});

test('where code cannot be drawn its backticks are left out', () => {
  assert.equal(plain('Run `%mlc_device gpu` in a cell.'), 'Run %mlc_device gpu in a cell.');
});

test('a command between backticks can be copied, and other code there cannot', () => {
  assert.deepEqual(commandsIn('Use `DataLoader`, or run it with `%%mlc_trace --ops`.'), [
    '%%mlc_trace --ops'
  ]);
  assert.deepEqual(commandsIn('Run `jupyter mlgpu bench --quick` in a shell.'), [
    'jupyter mlgpu bench --quick'
  ]);
  assert.deepEqual(commandsIn('Nothing to do.'), []);
});
