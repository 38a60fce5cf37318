import assert from 'node:assert/strict';
import { test } from 'node:test';

import { translator } from '../src/language/i18n';
import { answer, commandsIn, lineName, lineShare } from '../src/record/limits';
import { cutInWords } from '../src/record/notes';
import { readRecord } from '../src/record/record';
import type { IRecord } from '../src/record/record';
import { recordText, withUncertainty } from '../src/record/recordtext';
import { reading, recordJson } from './records';

const english = translator(null);

const said = { template: 'Waited {share} of the time.', fields: { share: '86 %' } };

function limitJson(changes: object = {}): object {
  return {
    kind: 'waiting',
    confidence: 'sure',
    share: 0.86,
    said,
    evidence: [reading('cpu_time', 0.2)],
    next: 'Run it with `%%mlc_trace --ops`.',
    ...changes
  };
}

const hot = { line: 4, samples: 41, share: 0.82, low: 0.692, high: 0.902 };

function known(changes: object): IRecord {
  const record = readRecord(recordJson(1, changes));
  assert(typeof record !== 'string');
  return record;
}

function limitOf(changes: object): NonNullable<IRecord['limit']> {
  const { limit } = known({ limit: limitJson(changes) });
  assert(limit !== null);
  return limit;
}

test('a record without a limit has none', () => {
  const record = known({});
  assert.deepEqual([record.limit, record.whyNoLimit, record.lines], [null, null, []]);
});

test('the sentence begins with how sure it is, as the line does', () => {
  assert.equal(answer(limitOf({}), english), 'Waited 86 % of the time.');
  assert.equal(
    answer(limitOf({ confidence: 'likely' }), english),
    'Likely: Waited 86 % of the time.'
  );
  assert.equal(
    answer(limitOf({ confidence: 'open' }), english),
    'Not sure: Waited 86 % of the time.'
  );
});

test('the evidence has the share as it was seen, with its interval', () => {
  const record = known({});
  const seen = (changes: object): string => {
    const [first] = limitOf({
      evidence: [{ ...reading('samples_share', 1), ...changes }]
    }).evidence;
    assert(first);
    return withUncertainty(first, record, english);
  };
  assert.equal(seen({ unit: 'share', samples: 25 }), '100 %, 95 % interval 87 % to 100 %');
  assert.match(seen({ unit: 'share', samples: 0 }), /^100(\.0)? %$/);
});

test('what is no limit is none, and of rubbish in one the rest stays', () => {
  for (const rubbish of [null, 7, 'waiting', [], {}, { kind: 'waiting', said: 7 }]) {
    assert.equal(known({ limit: rubbish }).limit, null);
  }
  const many = Array.from({ length: 99 }, () => reading('a', 1));
  const limit = limitOf({ share: -1, evidence: [7, { quantity: '' }, ...many] });
  assert(limit.evidence.length > 0 && limit.evidence.length <= 10);
});

test('lines are read one by one, ten of them at most', () => {
  const lines = [
    hot,
    7,
    { ...hot, line: 'four' },
    { ...hot, cell: 3, calls: 'next(batches)\u202e' }
  ];
  const [own, other, ...more] = known({ lines }).lines;
  assert(own && other);
  assert.deepEqual(more, []);
  assert.equal(lineName(own, english), 'line 4');
  assert.equal(lineName({ ...other, line: 1234 }, english), '[3] line 1234');
  assert.equal(other.calls, 'next(batches)\\u202e');
  assert.equal(lineShare(own, english), '82 %: 41 samples, 95 % interval 69 % to 90 %');
  assert.equal(
    lineShare({ ...own, samples: 1 }, english),
    '82 %: 1 sample, 95 % interval 69 % to 90 %'
  );
  assert.equal(known({ lines: Array(99).fill(hot) }).lines.length, 10);
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

test('what a receipt had no room for is counted by its name', () => {
  assert.equal(cutInWords(['evidence', 3], english), 'readings behind the limit: 3');
  assert.equal(cutInWords(['lines', 7], english), 'lines of code: 7');
});

test('a record copied as text has its answer, what to do and the lines', () => {
  const text = recordText(
    known({ limit: limitJson(), lines: [{ ...hot, calls: 'f(x)' }] }),
    english
  );
  const [, head, first, second, third] = text.split('\n');
  assert.equal(head, 'finished · 1.5 s');
  assert.equal(first, 'Waited 86 % of the time.');
  assert.equal(second, 'Run it with `%%mlc_trace --ops`.');
  assert.equal(third, 'line 4 · 82 %: 41 samples, 95 % interval 69 % to 90 % · f(x)');
});
