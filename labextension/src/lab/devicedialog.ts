/** Choosing a device from a command: a question, and the answer told to the kernel. */

import { Dialog, showDialog } from '@jupyterlab/apputils';
import { createElement } from 'react';
import type { ChangeEvent } from 'react';

import type { Translate } from '../language/i18n';
import type { NotebookSession } from '../kernel/notebooks';
import { inWords } from '../record/requested';

/** Devices to choose from where the kernel does not know its own yet. */
const USUAL = ['cpu', 'gpu'];

/**
 * Ask for a device, and tell the kernel. Answers whether it was told; rejects with an Error of one sentence
 * where the kernel does not understand.
 */
export async function chooseDevice(session: NotebookSession, t: Translate): Promise<boolean> {
  const { device } = session.model.state;
  // Several frameworks may have a device of the same name: the word means all of them.
  const found = [...new Set(device?.available?.map(one => one.device) ?? USUAL)];
  const words = ['any', ...found.filter(word => word !== 'any')];
  let chosen = inWords(device?.requested ?? []);
  if (!words.includes(chosen)) {
    chosen = 'any';
  }
  // Not JupyterLab's own question for an item, whose list has no name for a screen reader.
  const answer = await showDialog({
    title: t('chooseTitle', { notebook: session.name }),
    body: createElement(
      'label',
      { className: 'jp-mlgpu-Choice' },
      t('chooseLabel'),
      createElement(
        'select',
        {
          className: 'jp-mlgpu-Input',
          defaultValue: chosen,
          onChange: (event: ChangeEvent<HTMLSelectElement>) => {
            chosen = event.target.value;
          }
        },
        words.map(word =>
          createElement(
            'option',
            { key: word, value: word },
            word === 'any' ? t('firstDevice') : word
          )
        )
      )
    ),
    buttons: [
      Dialog.cancelButton({ label: t('cancel') }),
      Dialog.okButton({ label: t('chooseOk') })
    ],
    focusNodeSelector: 'select'
  });
  if (!answer.button.accept) {
    return false;
  }
  await session.tell('device', { word: chosen, framework: null });
  return true;
}
