/**
 * The demo's own part of JupyterLab. Without a kernel, JupyterLab clears the outputs of a cell that is run; here
 * they are what people have come to see, so they stay, and a dialog says where cells can be run. What our server
 * says about a saved receipt lies in files, which scripts/demo_site.py made.
 *
 * It is written as webpack writes a prebuilt extension: a container with `init` and `get`, which takes
 * JupyterLab's own packages from the page's shared scope. So the demo needs no build step of Node.
 */

const REPOSITORY = 'https://git.example.org/jupyter-mlgpu/jupyter_mlgpu';
const STEPS = [`git clone ${REPOSITORY}.git`, 'cd jupyter_mlgpu', 'make lab'];
const WORDS = {
  en: {
    title: 'This page has no kernel',
    body: 'Nothing runs here: what you see was recorded. Your own receipts are three steps away:',
    more: 'More ways to install it',
    close: 'Close',
    comparing: 'This page has no server, which compares receipts. It comes with the package.'
  },
  zh: {
    title: '本页没有内核',
    body: '这里不运行任何代码：你看到的是录制的结果。三步即可得到你自己的回执：',
    more: '其他安装方式',
    close: '关闭',
    comparing: '比较回执要用服务器，本页没有；安装本软件包即可。'
  }
};
const SETTINGS = 'jupyter-mlgpu:sidebar';

const QUESTION = /\/jupyter-mlgpu\/(receipt|answer|comparison)(\?|$)/;

let scope = null;
/** Of the notebook in focus. */
let words = WORDS.en;

const fetchAsUsual = window.fetch.bind(window);
// Before JupyterLab is loaded, which keeps the function that it finds.
window.fetch = (input, init) => {
  const asked = QUESTION.exec(typeof input === 'string' ? input : (input.url ?? ''));
  return asked === null ? fetchAsUsual(input, init) : answer(asked[1], new Request(input, init));
};

/** Answer in the place of our server. */
async function answer(what, request) {
  const question = await request.json();
  const records = what === 'receipt' ? [question.record] : (question.records ?? []);
  const newest = records.reduce((a, b) => (a.started_at < b.started_at ? b : a), records[0]);
  if (newest === undefined) {
    return Response.json({ message: words.comparing }, { status: 400 });
  }
  const folder = request.url.replace(/\?.*/, '');
  return fetchAsUsual(`${folder}/${newest.run.id}-${newest.cell.sequence}.json`);
}

/** Return a package of JupyterLab. */
async function shared(name) {
  const [version] = Object.values(scope[name]);
  return (await version.get())();
}

/** Return whether a notebook is one of the Chinese ones. */
function isChinese(path) {
  return path.startsWith('zh/');
}

/** Return what the dialog says, as an element. */
function saying() {
  const body = document.createElement('div');
  body.append(document.createElement('p'), document.createElement('pre'), document.createElement('a'));
  const [text, steps, link] = body.children;
  text.textContent = words.body;
  steps.textContent = STEPS.join('\n');
  link.textContent = words.more;
  link.href = `${REPOSITORY}/blob/HEAD/docs/how-to/install.md`;
  link.target = '_blank';
  link.rel = 'noopener';
  return body;
}

async function plugins() {
  const [{ Dialog, showDialog }, notebooks, { ISettingRegistry }, { Widget }] = await Promise.all(
    ['@jupyterlab/apputils', '@jupyterlab/notebook', '@jupyterlab/settingregistry', '@lumino/widgets'].map(shared)
  );
  let isOpen = false;

  /** One dialog, however many cells "Run All" names. */
  async function explain() {
    if (isOpen) {
      return;
    }
    isOpen = true;
    await showDialog({
      title: words.title,
      body: new Widget({ node: saying() }),
      buttons: [Dialog.okButton({ label: words.close })]
    });
    isOpen = false;
  }

  const executor = {
    id: 'jupyter-mlgpu-demo:cell-executor',
    description: 'Leaves outputs as they are, and says how to run cells elsewhere.',
    autoStart: true,
    provides: notebooks.INotebookCellExecutor,
    activate: () => ({
      runCell: async options => {
        if (options.cell.model.type !== 'code') {
          return notebooks.runCell(options);
        }
        void explain();
        return true;
      }
    })
  };

  const page = {
    id: 'jupyter-mlgpu-demo:page',
    description: 'Opens the sidebar, in the language of the notebook that is being read.',
    autoStart: true,
    requires: [notebooks.INotebookTracker],
    optional: [ISettingRegistry],
    activate: (app, tracker, settings) => {
      void app.restored.then(() => app.commands.execute('jupyter-mlgpu:open'));
      tracker.currentChanged.connect((_, notebook) => {
        if (notebook !== null) {
          const chinese = isChinese(notebook.context.path);
          words = chinese ? WORDS.zh : WORDS.en;
          void settings?.set(SETTINGS, 'language', chinese ? 'zh_CN' : 'jupyterlab');
        }
      });
    }
  };

  return [executor, page];
}

window._JUPYTERLAB = window._JUPYTERLAB ?? {};
window._JUPYTERLAB['jupyter-mlgpu-demo'] = {
  init: found => {
    scope = found;
  },
  get: async () => {
    const found = await plugins();
    return () => ({ __esModule: true, default: found });
  }
};
