/**
 * Builds the controls for other notebooks (src/anywidget, what `tsc` made of it) into one module, which anywidget
 * sends to the page: React is in it, and so are its styles. `jlpm build` runs it.
 */

import { readFileSync } from 'node:fs';
import process from 'node:process';
import { URL, fileURLToPath } from 'node:url';

import { rspack } from '@rspack/core';

const HERE = new URL('./', import.meta.url);
const path = name => fileURLToPath(new URL(name, HERE));

/** The sidebar's styles, as style.mjs made them, and those that only the controls need. */
const styles = ['lib/style/index.css', 'style/widgets.css']
  .map(name => readFileSync(path(name), 'utf8'))
  .join('\n');

const ENTRY = 'lib/anywidget/index.js';
const development = process.argv.includes('--development');

const widgets = {
  mode: development ? 'development' : 'production',
  devtool: false,
  context: path('.'),
  entry: path(ENTRY),
  output: {
    path: path('../jupyter_mlgpu/jupyter/notebook/static'),
    filename: 'widgets.js',
    clean: true,
    module: true,
    library: { type: 'module' },
    // One file: a widget's page knows no address from which it could load a second one.
    asyncChunks: false
  },
  module: {
    parser: { javascript: { exportsPresence: 'error' } },
    // Of modules that do nothing by being loaded, what is not used stays away, and what that alone uses.
    rules: [{ test: /[\\/](lib|@lumino)[\\/]/, exclude: path(ENTRY), sideEffects: false }]
  },
  plugins: [new rspack.DefinePlugin({ STYLES: JSON.stringify(styles) })],
  optimization: {
    minimizer: [
      // The licences of what is bundled stay in it.
      new rspack.SwcJsMinimizerRspackPlugin({
        extractComments: false,
        minimizerOptions: { format: { comments: 'some' } }
      })
    ]
  },
  performance: { hints: false }
};

const compiler = rspack(widgets);

compiler.run((error, stats) => {
  const failed = error || stats.hasErrors();
  if (failed) {
    process.stderr.write(`${error ?? stats.toString({ all: false, errors: true })}\n`);
    process.exitCode = 1;
  }
  compiler.close(() => undefined);
});
