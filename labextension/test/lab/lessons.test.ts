import assert from 'node:assert/strict';
import test from 'node:test';

import { ServerConnection } from '@jupyterlab/services';

import { askLessons } from '../../src/lab/lessons';
import { translator } from '../../src/language/i18n';
import { RefusedError } from '../../src/language/sentence';

const chinese = { name: 'zh-CN', t: translator(null) };

/** A server that gives this answer, and what it was asked. */
function server(status: number, answer: string): [ServerConnection.ISettings, Request[]] {
  const asked: Request[] = [];
  const fetch = (request: RequestInfo | URL): Promise<Response> => {
    asked.push(request as Request);
    return Promise.resolve(new Response(answer, { status }));
  };
  return [ServerConnection.makeSettings({ baseUrl: 'http://lab/user/ada/', fetch }), asked];
}

test('the server is asked for the lessons in the language of the page', async () => {
  const first = 'jupyter_mlgpu-lessons/zh/00_start_here.ipynb';
  const said = 'Copied 2 files to /home/ada.';
  const [settings, asked] = server(200, JSON.stringify({ first, said }));
  assert.deepEqual(await askLessons(chinese, settings), { first, said });
  assert.equal(asked[0]?.method, 'POST');
  assert.match(asked[0].url, /^http:\/\/lab\/user\/ada\/jupyter-mlgpu\/lessons\/zh-CN/);
});

test('lessons that were there are opened without a word', async () => {
  const [settings] = server(200, JSON.stringify({ first: '00_start_here.ipynb', said: null }));
  assert.deepEqual(await askLessons(chinese, settings), {
    first: '00_start_here.ipynb',
    said: null
  });
});

test('a refusal is told in its own sentence', async () => {
  const [settings] = server(409, JSON.stringify({ why: 'lessons is not a folder.' }));
  await assert.rejects(
    askLessons(chinese, settings),
    error => error instanceof RefusedError && error.sentence === 'lessons is not a folder.'
  );
});

test('of a server without our extension, or with an answer that is none, it is said what to do', async () => {
  for (const [status, answer] of [
    [404, '{"message": "Not Found"}'],
    [200, '<html>'],
    [200, '{"first": 7}'],
    [500, '']
  ] as const) {
    const [settings] = server(status, answer);
    await assert.rejects(askLessons(chinese, settings), /did not say where the lessons are/);
  }
});
