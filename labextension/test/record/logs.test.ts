import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readLogs, type ILogLine } from '../../src/record/logs';
import { readRecord, type IRecord } from '../../src/record/record';
import { logJson, metal, recordJson } from '../records';

function lineOf(changes: object): ILogLine {
  const [[line]] = readLogs([logJson('text', changes)]);
  assert(line);
  return line;
}

function known(changes: object): IRecord {
  const record = readRecord(recordJson(1, changes));
  assert(typeof record !== 'string');
  return record;
}

test('a line is read with its explanation, its fields and its count', () => {
  const [[line]] = readLogs([metal]);
  assert.equal(line?.verdict, 'info');
  assert.deepEqual(line.fields, [['device', 'Apple M1 Max']]);
  assert.equal(line.count, 1);
  assert.equal(line.late, false);
});

test('what is no line is left out, and what is strange in one is not known', () => {
  const strange = [null, 7, 'text', [], {}, { text: 7 }, { text: ['a'] }];
  assert.deepEqual(readLogs(strange), [[], 0]);
  assert.deepEqual(readLogs('text'), [[], 0]);
  const line = lineOf({
    id: {},
    verdict: 'splendid',
    meaning: 7,
    fields: 'none',
    count: -1,
    late: 'yes'
  });
  assert.equal(line.id, null);
  assert.equal(line.verdict, 'unknown');
  assert.equal(line.meaning, null);
  assert.deepEqual(line.fields, []);
  assert.equal(line.count, 1);
  assert.equal(line.late, false);
});

test('a long line is cut and its length kept; too many lines are counted', () => {
  const line = lineOf({ text: 'x'.repeat(1_000_000), meaning: 'm'.repeat(1_000_000) });
  assert.equal(line.text.length, 8_000);
  assert.equal(line.length, 1_000_000);
  assert((line.meaning ?? '').length < 2_000);
  const record = known({ logs: Array.from({ length: 5_000 }, (_, n) => logJson(`${n}`)) });
  assert.equal(record.logs.length, 2_000);
  assert.deepEqual(record.cut, [['logs', 3_000]]);
});

test('of ten megabytes of lines a bounded part is read, and the others are counted', () => {
  const lines = Array.from({ length: 1_500 }, () => logJson('x'.repeat(7_000)));
  const [read, left] = readLogs(lines);
  assert.equal(read.length, 143);
  assert.equal(read.length + left, 1_500);
});

test('characters that one does not see are written out, and line ends stay', () => {
  const line = lineOf({ text: 'safe\u202eevil\u2066\u0000\u001b[31m\r\nnext\tline' });
  assert.equal(line.text, 'safe\\u202eevil\\u2066\\u0000\\u001b[31m\nnext\tline');
});
