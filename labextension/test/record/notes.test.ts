import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readLogs, worstFirst } from '../../src/record/logs';
import { explain } from '../../src/language/explain';
import { logJson, metal, outOfMemory } from '../records';

test('the worst comes first, and lines of one verdict in their order', () => {
  const [lines] = readLogs([logJson('a'), metal, logJson('b'), outOfMemory]);
  assert.deepEqual(
    worstFirst(lines).map(line => line.text),
    ['OOM when allocating', 'Metal device set to: Apple M1 Max', 'a', 'b']
  );
});

const chinese = {
  'metal-device-set': {
    meaning: 'TensorFlow 将使用这台 Mac 的 GPU：{device}。',
    advice: '无需处理 {{}}。'
  },
  'out-of-memory': { meaning: '缺少 {size}。', advice: '请减小批次。' }
};

test('another language is found by the message, with the fields of the line', () => {
  const [[line]] = readLogs([metal]);
  assert(line);
  assert.equal(explain(line, null).advice, 'Nothing to do.');
  assert.deepEqual(explain(line, chinese), {
    meaning: 'TensorFlow 将使用这台 Mac 的 GPU：Apple M1 Max。',
    advice: '无需处理 {}。'
  });
});

test('without the message or one of its fields the English of the record is shown', () => {
  const [[unlisted, fieldless, hostile]] = readLogs([
    logJson('x', { id: 'new-message', meaning: 'New.', advice: 'Wait.' }),
    outOfMemory,
    logJson('x', { id: 'toString', meaning: 'Own.', advice: null })
  ]);
  assert(unlisted && fieldless && hostile);
  assert.equal(explain(unlisted, chinese).meaning, 'New.');
  assert.equal(explain(fieldless, chinese).meaning, 'The GPU has no memory left.');
  assert.equal(explain(fieldless, chinese).advice, '请减小批次。');
  assert.equal(explain(hostile, chinese).meaning, 'Own.');
});

test('a field is put in as it came', () => {
  const [[line]] = readLogs([
    logJson('x', { id: 'metal-device-set', meaning: 'm', fields: { device: '{device} $& <b>' } })
  ]);
  assert(line);
  assert.equal(
    explain(line, chinese).meaning,
    'TensorFlow 将使用这台 Mac 的 GPU：{device} $& <b>。'
  );
});
