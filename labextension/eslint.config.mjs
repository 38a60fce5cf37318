import js from '@eslint/js';
import reactHooks from 'eslint-plugin-react-hooks';
import { defineConfig } from 'eslint/config';
import typescript from 'typescript-eslint';

export default defineConfig(
  { ignores: ['lib/', 'node_modules/'] },
  js.configs.recommended,
  {
    files: ['src/**/*.{ts,tsx}', 'test/**/*.ts'],
    extends: [typescript.configs.strictTypeChecked, reactHooks.configs.flat.recommended],
    languageOptions: {
      parserOptions: { project: ['tsconfig.json', 'tsconfig.test.json'] }
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/explicit-function-return-type': ['error', { allowExpressions: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // Lumino's `connect(method, this)` takes the two apart.
      '@typescript-eslint/unbound-method': 'off',
      // A warning for the React Compiler, which is not used here.
      'react-hooks/incompatible-library': 'off',
      // What arrives in the page is hostile: text goes through React, which escapes it.
      'no-restricted-syntax': [
        'error',
        {
          selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']",
          message: 'Show text as text.'
        },
        {
          selector: "AssignmentExpression[left.property.name='innerHTML']",
          message: 'Show text as text.'
        }
      ]
    }
  },
  {
    files: ['test/**/*.ts'],
    // `test` of node:test answers a promise that its runner waits for.
    rules: { '@typescript-eslint/no-floating-promises': 'off' }
  }
);
