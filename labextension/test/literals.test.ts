import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import ts from 'typescript';

import texts from '../src/language/texts.json';

/** What a person reads or hears of an element. */
const SAID = new Set(['alt', 'aria-description', 'aria-label', 'label', 'placeholder', 'title']);
const WORD = /\p{L}{2,}/u;

/** Words that a view says in one language only, for they are not in the texts. */
function literals(name: string, code: string): string[] {
  const file = ts.createSourceFile(name, code, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const found: string[] = [];
  const note = (node: ts.Node, words: string): void => {
    if (WORD.test(words)) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      found.push(`${name}:${line + 1}: ${words.trim()}`);
    }
  };
  const visit = (node: ts.Node): void => {
    if (ts.isJsxText(node)) {
      note(node, node.text);
    } else if (ts.isJsxAttribute(node) && SAID.has(node.name.getText())) {
      const { initializer } = node;
      const said =
        initializer && ts.isJsxExpression(initializer) ? initializer.expression : initializer;
      if (said && ts.isStringLiteralLike(said)) {
        note(said, said.text);
      }
    } else if (ts.isJsxExpression(node) && !ts.isJsxAttribute(node.parent)) {
      const { expression } = node;
      if (expression && ts.isStringLiteralLike(expression)) {
        note(expression, expression.text);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

test('no view says words that are not in the texts of both languages', () => {
  const views = readdirSync('src', { recursive: true, encoding: 'utf-8' }).filter(name =>
    name.endsWith('.tsx')
  );
  assert(views.length > 10);
  assert.deepEqual(
    views.flatMap(name => literals(name, readFileSync(join('src', name), 'utf-8'))),
    []
  );
});

test('words are found where they stand in a view', () => {
  const code = `const view = (
    <p title="Hello" aria-label={'there'} className="jp-mlgpu-Quiet">
      Loading {t('records')} {' · '} {'plain'} [1]
    </p>
  );`;
  assert.deepEqual(literals('view.tsx', code), [
    'view.tsx:2: Hello',
    'view.tsx:2: there',
    'view.tsx:3: Loading',
    'view.tsx:3: plain'
  ]);
});

test('no text has the name of another: the later one would take its place', () => {
  const names = [...readFileSync('src/language/texts.json', 'utf-8').matchAll(/^ {2}"(\w+)":/gm)];
  assert.equal(names.length, Object.keys(texts).length);
});

test('whoever has a singular has a plural with the same fields', () => {
  const fields = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).sort();
  const pairs = Object.values(texts).filter(text => typeof text !== 'string');
  assert(pairs.length > 10);
  for (const { one, other } of pairs) {
    assert.deepEqual(fields(one), fields(other), other);
    assert(other.includes('{count}'), other);
  }
});
