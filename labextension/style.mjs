/**
 * Writes lib/style/index.css: the styles of style/index.css in one file, without comments and line ends, for the
 * builder leaves them as they are. `jlpm build` runs it.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { URL } from 'node:url';

const read = name => readFileSync(new URL(`style/${name}`, import.meta.url), 'utf8');

const parts = [...read('index.css').matchAll(/@import url\('([\w-]+\.css)'\)/g)];
const style = parts
  .map(([, name]) => read(name))
  .join('\n')
  .replace(/\/\*[^]*?\*\//g, '')
  .replace(/\s+/g, ' ')
  // Around these a space means nothing; it does beside the + and - of calc() and before a colon in a selector.
  .replace(/ ?([{};,]) ?/g, '$1')
  .replace(/: /g, ':')
  .replace(/;}/g, '}')
  .trim();

const folder = new URL('lib/style/', import.meta.url);
mkdirSync(folder, { recursive: true });
writeFileSync(new URL('index.css', folder), `${style}\n`);
writeFileSync(new URL('index.js', folder), "import './index.css';\n");
