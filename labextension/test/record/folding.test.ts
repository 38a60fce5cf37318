/** Native lines that ask for nothing fold; what is not known, asks for something or was printed stays in its place. */

import assert from 'node:assert/strict';
import test from 'node:test';

import { foldedInWords, foldingOf } from '../../src/record/folding.js';
import { readRecord, type IRecord } from '../../src/record/record.js';
import { translator } from '../../src/language/i18n.js';
import { recordJson } from '../records.js';

const NUMA =
  '2026-01-01 00:00:00.1: I tensorflow/core/a.cc:12] NUMA node read had negative value (-1)';
const NUMA_LATER =
  '2026-01-01 00:00:07.3: I tensorflow/core/a.cc:12] NUMA node read had negative value (-1)';

function line(text: string, verdict: string, id: string | null = 'some-message'): object {
  return { text, verdict, id, stream: 'stderr' };
}

function record(native: object, ...logs: object[]): IRecord {
  const read = readRecord(recordJson(1, { logs, native: { families: ['tensorflow'], ...native } }));
  assert.ok(typeof read !== 'string');
  return read;
}

function lines(count: number, ...native: [number, number][]): object {
  return { streams: { stderr: { lines: count, native } } };
}

function stderr(text: string): { stream: string; text: string } {
  return { stream: 'stderr', text };
}

test('harmless lines and those for information fold, each time that they come', () => {
  const known = record(lines(3, [0, 3]), line(NUMA, 'harmless'), line('for information', 'info'));
  assert.deepEqual(
    foldingOf([stderr(`${NUMA}\nfor information\n${NUMA_LATER}\n`)], known, 'fold'),
    {
      left: [''],
      messages: [NUMA, 'for information', NUMA_LATER]
    }
  );
});

test('what is not known, what asks for something and what names a device stays in its order', () => {
  const known = record(
    { ...lines(5, [0, 5]), naming_devices: ['device'] },
    line(NUMA, 'harmless'),
    line('act', 'action'),
    line('slow', 'performance'),
    line('Metal device set to: M1', 'info', 'device'),
    line('who knows', 'unknown', null)
  );
  const text = `act\n${NUMA}\nslow\nMetal device set to: M1\nwho knows\n`;
  assert.deepEqual(foldingOf([stderr(text)], known, 'fold').left, [
    'act\nslow\nMetal device set to: M1\nwho knows\n'
  ]);
});

test('a line that Python printed stays, though it says the same', () => {
  const known = record(lines(3, [1, 1]), line(NUMA, 'harmless'));
  assert.deepEqual(foldingOf([stderr(`${NUMA}\n${NUMA}\n${NUMA}\n`)], known, 'fold'), {
    left: [`${NUMA}\n${NUMA}\n`],
    messages: [NUMA]
  });
});

test('lines are counted over all outputs of a stream, and another stream has its own', () => {
  const known = record(lines(3, [2, 1]), line(NUMA, 'harmless'));
  const written = [stderr('one\ntw'), { stream: 'stdout', text: 'a\n' }, stderr(`o\n${NUMA}\n`)];
  assert.deepEqual(foldingOf(written, known, 'fold').left, [null, null, 'o\n']);
});

test('a message of several lines folds whole or not at all', () => {
  const known = record(lines(4, [0, 4]), line('head:\n  body', 'harmless'));
  assert.deepEqual(foldingOf([stderr('head:\n  body\nhead:\n  other\n')], known, 'fold'), {
    left: ['head:\n  other\n'],
    messages: ['head:\n  body']
  });
});

test('a line that looks like one to act on stays', () => {
  const known = record(lines(1, [0, 1]), line('0 devices', 'action'), line('2 devices', 'info'));
  assert.deepEqual(foldingOf([stderr('2 devices\n')], known, 'fold').left, [null]);
});

test('nothing folds where the notebook has fewer lines than the kernel counted', () => {
  const known = record(lines(2, [0, 2]), line(NUMA, 'harmless'));
  assert.deepEqual(foldingOf([stderr(`${NUMA}\n`)], known, 'fold').messages, []);
});

test('a profiler of ours leaves no line, and all is there for who asks for all', () => {
  const known = record({ ...lines(2, [0, 2]), ours: ['session started'] }, line(NUMA, 'harmless'));
  const written = [stderr(`session started\n${NUMA}\n`)];
  assert.deepEqual(foldingOf(written, known, 'fold'), { left: [''], messages: [NUMA] });
  assert.deepEqual(foldingOf(written, known, 'show'), { left: [`${NUMA}\n`], messages: [] });
  assert.deepEqual(foldingOf(written, known, 'all'), { left: [], messages: [] });
});

test('a path that the record has in another form folds all the same', () => {
  const known = record({ ...lines(1, [0, 1]), ours: ['I a/b.cc:7] Collecting to: profile/x.pb'] });
  const written = [stderr('I a/b.cc:7] Collecting to: /tmp/of-somebody/profile/x.pb\n')];
  assert.deepEqual(foldingOf(written, known, 'fold').left, ['']);
});

test('what a stranger sent folds nothing', () => {
  for (const native of [[], { streams: { stderr: { lines: 1, native: [[-1, 1e9], 'x'] } } }, 7]) {
    const read = readRecord(recordJson(1, { native, logs: [line(NUMA, 'harmless')] }));
    assert.ok(typeof read !== 'string');
    assert.deepEqual(foldingOf([stderr(`${NUMA}\n`)], read, 'fold').messages, []);
  }
});

test('the line names a framework where all messages are of one, or of what it stands on', () => {
  const said = (...families: string[]): string =>
    foldedInWords(12, record({ ...lines(1), families }).native, translator(null));
  assert.equal(said('cuda', 'tensorflow'), '12 harmless TensorFlow messages');
  assert.equal(said('jax', 'tensorflow'), '12 harmless messages');
  assert.equal(said('metal'), '12 harmless Metal messages');
  assert.equal(said(), '12 harmless messages');
});
