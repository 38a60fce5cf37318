import assert from 'node:assert/strict';
import { test } from 'node:test';

import { translator } from '../src/i18n';
import { Sentences } from '../src/sentences';

const sentences = new Sentences({
  'There is no NVIDIA driver here.': '此处没有 NVIDIA 驱动程序。',
  'The measurement failed ({error}).': '测量失败（{error}）。',
  '{name} has not used a device yet.': '{name} 还没有使用过设备。',
  '{device:word}: {why:known}': '{device}：{why}',
  'NVML does not tell {what:known} ({error}).': 'NVML 没有提供{what}（{error}）。',
  '{what:known} of GPU {index:word}': 'GPU {index} 的{what}',
  'the power': '功率',
  '{low:figure} to {high:figure}': '{low} 至 {high}',
  '{one} ran on {device:word}, not on {other:word}.': '{one} 在 {device} 上运行，不在 {other} 上。',
  'PyTorch has {devices}': 'PyTorch 有 {devices}',
  'all of it ran on {device:word}, not on {other:word}.':
    '全部在 {device} 上运行，不在 {other} 上。'
});

test('a sentence is shown by its template, with what stood in its fields', () => {
  assert.equal(sentences.say('There is no NVIDIA driver here.'), '此处没有 NVIDIA 驱动程序。');
  assert.equal(sentences.say('The measurement failed (OSError: x).'), '测量失败（OSError: x）。');
  assert.equal(sentences.say('PyTorch has not used a device yet.'), 'PyTorch 还没有使用过设备。');
});

test('what is not known stays as it came, also beside what is known', () => {
  for (const text of [
    '',
    ' ',
    'Nobody wrote this.',
    'There is no NVIDIA driver',
    '{name} {error}'
  ]) {
    assert.equal(sentences.say(text), text);
  }
  assert.equal(
    sentences.say(
      'There is no NVIDIA driver here. Nobody wrote this. PyTorch has not used a device yet.'
    ),
    '此处没有 NVIDIA 驱动程序。Nobody wrote this. PyTorch 还没有使用过设备。'
  );
});

test('a field that is a sentence by itself, or a piece that is known, is shown in the language too', () => {
  assert.equal(
    sentences.say('NVML does not tell the power of GPU 0 (Not Supported).'),
    'NVML 没有提供GPU 0 的功率（Not Supported）。'
  );
  assert.equal(
    sentences.say('gpu:0: There is no NVIDIA driver here. The measurement failed (x).'),
    'gpu:0：此处没有 NVIDIA 驱动程序。测量失败（x）。'
  );
});

test('a field reaches beyond the end of a sentence only where nothing else fits', () => {
  assert.equal(
    sentences.say('x has not used a device yet. y has not used a device yet.'),
    'x 还没有使用过设备。y 还没有使用过设备。'
  );
  assert.equal(
    sentences.say('The measurement failed (OSError: no. Nothing else).'),
    '测量失败（OSError: no. Nothing else）。'
  );
});

test('a field takes only what it is asked to be', () => {
  for (const text of [
    'a b: There is no NVIDIA driver here',
    'gpu:0: nobody knows',
    'from here to there',
    '3 things to 4 things',
    'x ran on a b, not on c.'
  ]) {
    assert.equal(sentences.say(text), text);
  }
  assert.equal(sentences.say('1.5 MiB to 14 MiB'), '1.5 MiB 至 14 MiB');
});

test('of two templates that fit, the more literal one is meant', () => {
  assert.equal(sentences.say('all of it ran on a, not on b.'), '全部在 a 上运行，不在 b 上。');
  assert.equal(
    sentences.say('Half of it ran on a, not on b.'),
    'Half of it 在 a 上运行，不在 b 上。'
  );
});

test('what stood in a field is no template, and no pattern', () => {
  assert.equal(
    sentences.say('The measurement failed ({error} $& \\1 <b>).'),
    '测量失败（{error} $& \\1 <b>）。'
  );
});

test('a text that is made to be slow is given up, and a long one is not looked at', t => {
  const greedy = new Sentences(
    Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`{a} x {b} y {c:known} z${index} {d}`, '{a}{b}'])
    )
  );
  const compared = t.mock.method(String.prototype, 'startsWith');
  for (const piece of ['x y z. ', 'x x y z1 ', '. : ; ', 'x ', '{a} x {b} ']) {
    for (const length of [600, 1_200, 14_000]) {
      compared.mock.resetCalls();
      const text = piece.repeat(2_000).slice(0, length);
      greedy.say(text);
      assert(compared.mock.callCount() <= (length > 1_200 ? 0 : 200 * 50));
    }
  }
});

test('a page says in Chinese what the kernel wrote, and in English where there is nothing else', () => {
  const chinese = translator({ texts: { title: '硬件回执' }, sentences });
  assert.equal(chinese('title'), '硬件回执');
  assert.equal(chinese.say('There is no NVIDIA driver here.'), '此处没有 NVIDIA 驱动程序。');
  assert.equal(chinese('records'), translator(null)('records'));
  assert.equal(
    translator(null).say('There is no NVIDIA driver here.'),
    'There is no NVIDIA driver here.'
  );
});
