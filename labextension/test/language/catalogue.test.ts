import assert from 'node:assert/strict';
import { test } from 'node:test';

/** Addresses that were asked for, and what the server answers next. */
const asked: string[] = [];
let answer: () => Response = () => new Response(null, { status: 404 });

/** As in a page, an address may leave the server out. */
globalThis.Request = class extends Request {
  constructor(address: string, options?: RequestInit) {
    super(new URL(address, 'http://localhost'), options);
  }
} as typeof Request;

globalThis.fetch = request => {
  asked.push(new URL((request as Request).url).pathname);
  return Promise.resolve(answer());
};

test('nothing is asked of the server for English', async () => {
  const { loadMessages, loadTexts } = await import('../../src/language/catalogue.js');
  assert.equal(await loadTexts('en_GB'), null);
  assert.equal(await loadMessages('en'), null);
  assert.deepEqual(asked, []);
});

test('a language is asked for once, also one that is not there', async () => {
  const { loadTexts } = await import('../../src/language/catalogue.js');
  const absent = [loadTexts('de_DE'), loadTexts('de-DE'), loadTexts('de_DE')];
  assert.deepEqual(await Promise.all(absent), [null, null, null]);
  answer = () => Response.json({ messages: { Running: ['正在运行'] } });
  const [texts, again] = [await loadTexts('zh_CN'), await loadTexts('zh-CN')];
  assert.deepEqual(texts?.messages.get('Running'), ['正在运行']);
  assert.equal(again, texts);
  assert.deepEqual(asked, ['/jupyter-mlgpu/texts/de_DE', '/jupyter-mlgpu/texts/zh_CN']);
});

test('a server that fails is asked again', async context => {
  const { loadMessages } = await import('../../src/language/catalogue.js');
  context.mock.method(console, 'warn', () => undefined);
  answer = () => new Response(null, { status: 500 });
  assert.equal(await loadMessages('zh_CN'), null);
  answer = () => Response.json({ one: { meaning: '含义', advice: '建议' } });
  assert.deepEqual(await loadMessages('zh_CN'), { one: { meaning: '含义', advice: '建议' } });
});
