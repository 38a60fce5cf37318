/** The dialog of the command that chooses a device. */

import { Dialog, showDialog } from '@jupyterlab/apputils';
import { createElement, type ChangeEvent } from 'react';

import { choiceName, picks } from '../kernel/devicechoice';
import type { NotebookSession } from '../kernel/notebooks';
import type { Translate } from '../language/i18n';
import { plain } from '../language/prose';

/**
 * Ask for a device, and send it to the kernel. Resolves with true if it was sent; rejects with an Error of
 * one sentence if the kernel refuses.
 */
export async function chooseDevice(session: NotebookSession, t: Translate): Promise<boolean> {
  const { device, choices } = session.model.state;
  const offered = picks(device, choices);
  const all = offered.flatMap(({ framework, name, chosen, words }) =>
    words.map(choice => ({
      request: { word: choice.word, framework },
      chosen: choice.word === chosen,
      // With several frameworks the same device may be in several lists.
      key: framework === null ? choice.word : `${framework} ${choice.word}`,
      label: name === null ? choiceName(choice, t) : `${name}: ${choiceName(choice, t)}`
    }))
  );
  let selectedKey = (all.find(one => one.chosen) ?? all[0])?.key;
  const missing = offered.flatMap(pick => pick.missing.map(t.say));
  // JupyterLab's own InputDialog has no accessible name for its list.
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
          defaultValue: selectedKey,
          onChange: (event: ChangeEvent<HTMLSelectElement>) => {
            selectedKey = event.target.value;
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
  const choice = all.find(one => one.key === selectedKey);
  if (!answer.button.accept || choice === undefined) {
    return false;
  }
  await session.request('device', choice.request);
  return true;
}
