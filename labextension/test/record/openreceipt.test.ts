import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { translator } from '../../src/language/i18n';
import { readOpenReceipt, type IOpenReceipt } from '../../src/record/openreceipt';
import { readRecord, type IRecord } from '../../src/record/record';
import { fileName, receiptText } from '../../src/record/receipttext';
import { recordJson } from '../records';

/** What Python says of each of forty records when its receipt is open: tests/show/forty_records.py. */
interface IShown {
  name: string;
  data: object;
  plain: string;
  open: object;
  /** A line a sentence or a row. */
  inside: string[];
}

const SHOWN = JSON.parse(readFileSync('../tests/data/words/records.json', 'utf-8')) as IShown[];

const english = translator(null);

function known(data: object, plain?: unknown): IRecord {
  const record = readRecord(data, plain);
  assert(typeof record !== 'string');
  return record;
}

function open(data: object): IOpenReceipt {
  const shown = readOpenReceipt(data);
  assert(shown !== null);
  return shown;
}

test('forty open receipts say what Python says of their records', () => {
  for (const { name, data, plain, open: sent, inside } of SHOWN) {
    const record = known(data, plain);
    const said = receiptText(record, open(sent), english).split('\n');
    // Before it stand the cell and its line, behind it the time.
    const [, , ...others] = said.filter(line => line !== record.startedAt);
    const notes = record.notes.map(english.say);
    const told = others
      .map(line => line.replace(`${record.startedAt} · `, ''))
      .filter(line => !notes.includes(line));
    assert.deepEqual(told, inside, name);
  }
});

test('an open receipt is said in the reader’s language', () => {
  const chinese = translator({
    language: 'zh_CN',
    messages: new Map([['Not measured ({count})', ['未测量（{count}）']]])
  });
  const [first] = SHOWN;
  assert(first);
  assert.match(chinese.say(open(first.open).missingTitle), /^未测量/);
});

test('of an open receipt that nobody vouches for the parts that can be read are shown', () => {
  const table = { columns: ['A'], rows: [['1'], 'x', ['2']] };
  const shown = open({ answer: 7, advice: 'Wait.', lines: 'x', work: [table, null, 'x'] });
  assert.deepEqual([shown.answer, shown.advice, shown.lines], ['', 'Wait.', null]);
  assert.deepEqual(
    shown.work.map(({ rows }) => rows),
    [[['1'], ['2']]]
  );
  for (const nothing of [null, 7, 'x', []]) {
    assert.equal(readOpenReceipt(nothing), null);
  }
});

test('a file’s name leaves out what no system allows', () => {
  const record = known(recordJson(1, { run: { id: 'r', notebook: '../a:b?.ipynb' } }));
  assert.equal(fileName(record, '.jsonl'), '.._a_b_-cell-1.jsonl');
});
