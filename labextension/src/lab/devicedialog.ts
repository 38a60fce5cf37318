/** Choosing a device from a command: a question, and the answer told to the kernel. */

import { Dialog, showDialog } from '@jupyterlab/apputils';
import { createElement, type ChangeEvent } from 'react';

import { choiceName, picks } from '../kernel/devicechoice';
import type { NotebookSession } from '../kernel/notebooks';
import type { Translate } from '../language/i18n';
import { plain } from '../language/prose';

/**
 * Ask for a device, and tell the kernel. Answers whether it was told; rejects with an Error of one sentence
 * where the kernel does not understand.
 */
export async function chooseDevice(session: NotebookSession, t: Translate): Promise<boolean> {
  const { device, choices } = session.model.state;
  const offered = picks(device, choices);
  const all = offered.flatMap(({ framework, name, chosen, words }) =>
    words.map(choice => ({
      told: { word: choice.word, framework },
      chosen: choice.word === chosen,
      // Of several frameworks each has a list, and may have a device of the same name.
      key: framework === null ? choice.word : `${framework} ${choice.word}`,
      label: name === null ? choiceName(choice, t) : `${name}: ${choiceName(choice, t)}`
    }))
  );
  let taken = (all.find(one => one.chosen) ?? all[0])?.key;
  const missing = offered.flatMap(pick => pick.missing.map(t.say));
  // Not JupyterLab's own question for an item, whose list has no name for a screen reader.
  const answer = await showDialog({
    title: t('chooseTitle', { notebook: session.name }),
    body: createElement(
      'label',
      { className: 'jp-mlgpu-Choice' },
      plain([t('chooseLabel'), ...missing].join(' ')),
      createElement(
        'select',
        {
          className: 'jp-mlgpu-Input',
          defaultValue: taken,
          onChange: (event: ChangeEvent<HTMLSelectElement>) => {
            taken = event.target.value;
          }
        },
        all.map(({ key, label }) => createElement('option', { key, value: key }, label))
      )
    ),
    buttons: [
      Dialog.cancelButton({ label: t('cancel') }),
      Dialog.okButton({ label: t('chooseOk') })
    ],
    focusNodeSelector: 'select'
  });
  const choice = all.find(one => one.key === taken);
  if (!answer.button.accept || choice === undefined) {
    return false;
  }
  await session.tell('device', choice.told);
  return true;
}
