import assert from 'node:assert/strict';
import { test } from 'node:test';

import { catalogueOf, readCatalogue, translator, type Translate } from '../../src/language/i18n';
import { sentence } from '../../src/language/sentence';

const t = translator(
  readCatalogue('zh_CN', {
    messages: {
      'Scale: {time}': ['满格：{time}'],
      '{count} run': ['{count} 次运行'],
      'copied\u0004Copied': ['已复制'],
      'opsBytes\u0004Copied': ['复制量'],
      'No NVIDIA driver was found here.': ['此处没有 NVIDIA 驱动程序。'],
      '{device} was idle {share} of {what}.': ['{what}有 {share} 的时间 {device} 空闲。'],
      'this cell': ['此单元格']
    }
  })
);

function told(template: string, fields: object, plural?: string): string {
  const read = sentence({ text: '', template, fields, plural });
  assert(read !== null);
  return t.say(read);
}

test('a text of ours is said in the language, with its values', () => {
  assert.equal(t('scale', { time: '2 s' }), '满格：2 s');
  assert.equal(t('runs', { count: 1 }), '1 次运行');
  assert.equal(t('runs', { count: 12_000 }), '12,000 次运行');
});

test('one text that means two things has a translation for each', () => {
  assert.equal(t('copied'), '已复制');
  assert.equal(t('opsBytes'), '复制量');
});

test('what the language lacks is English, in the singular or the plural', () => {
  assert.equal(t('running'), 'Running');
  assert.equal(t('cores', { count: 1 }), '1 core');
  assert.equal(t('cores', { count: 0 }), '0 cores');
  assert.equal(told('{count} egg', { count: 2 }, '{count} eggs'), '2 eggs');
});

test('a value is put in as it came, also where it looks like a name', () => {
  assert.equal(t('scale', { time: '{time} $& <b>' }), '满格：{time} $& <b>');
});

test('what the kernel wrote is said by its template, and so are sentences in its fields', () => {
  const fields = { device: 'gpu:0', share: '12 %', what: { text: '', template: 'this cell' } };
  assert.equal(
    told('{device} was idle {share} of {what}.', fields),
    '此单元格有 12 % 的时间 gpu:0 空闲。'
  );
  const own = { ...fields, what: 'this cell' };
  assert.equal(
    told('{device} was idle {share} of {what}.', own),
    'this cell有 12 % 的时间 gpu:0 空闲。',
    'a text in a field is data'
  );
});

test('a text of the kernel is looked up whole, and else stands as it is', () => {
  assert.equal(t.say('No NVIDIA driver was found here.'), '此处没有 NVIDIA 驱动程序。');
  assert.equal(t.say('No NVIDIA driver was found.'), 'No NVIDIA driver was found.');
  assert.equal(t.say('constructor'), 'constructor');
});

test('each language chooses among its own plural forms', () => {
  const say = (language: string, forms: string[]): Translate =>
    translator(readCatalogue(language, { messages: { '{count} run': forms } }));
  const polish = say('pl_PL', ['{count} bieg', '{count} biegi', '{count} biegów']);
  assert.deepEqual(
    [0, 1, 2, 5, 22].map(count => polish('runs', { count })),
    ['0 biegów', '1 bieg', '2 biegi', '5 biegów', '22 biegi']
  );
  const french = say('fr_FR', ['{count} essai', '{count} essais']);
  assert.deepEqual(
    [0, 1, 2, 1_000_000].map(count => french('runs', { count })),
    ['0 essai', '1 essai', '2 essais', '1,000,000 essais']
  );
});

test('a catalogue is asked for by the name of its language, and English is not asked for', () => {
  const names = {
    zh_CN: 'zh_CN',
    'zh-CN': 'zh_CN',
    zh: 'zh',
    'zh-Hans': 'zh_Hans',
    de_DE: 'de_DE'
  };
  for (const [code, name] of Object.entries(names)) {
    assert.equal(catalogueOf(code), name);
  }
  for (const code of ['en', 'en_GB', 'en-US', '', 'default', '../texts', 'a/b', 'x'.repeat(99)]) {
    assert.equal(catalogueOf(code), null, code);
  }
});

test('a catalogue that cannot be read leaves all in English', () => {
  for (const data of [
    null,
    undefined,
    7,
    [],
    {},
    { messages: 7 },
    { messages: { Running: 'x' } }
  ]) {
    assert.equal(translator(readCatalogue('zh_CN', data))('running'), 'Running');
  }
  const hostile = { messages: { Running: [7, null, {}], Cell: ['x'.repeat(9_000)] } };
  assert.equal(translator(readCatalogue('zh_CN', hostile))('running'), 'Running');
  assert.equal(translator(readCatalogue('zh_CN', hostile))('cell'), 'Cell');
});
