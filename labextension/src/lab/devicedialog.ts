/** Choosing a device from a command: a question, and the answer told to the kernel. */

import { InputDialog } from '@jupyterlab/apputils';

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
      label: name === null ? choiceName(choice, t) : `${name}: ${choiceName(choice, t)}`
    }))
  );
  const missing = offered.flatMap(pick => pick.missing.map(t.say));
  const answer = await InputDialog.getItem({
    title: t('chooseTitle', { notebook: session.name }),
    label: plain([t('chooseLabel'), ...missing].join(' ')),
    items: all.map(one => one.label),
    current: Math.max(
      0,
      all.findIndex(one => one.chosen)
    ),
    okLabel: t('chooseOk'),
    cancelLabel: t('cancel')
  });
  const choice = all.find(one => one.label === answer.value);
  if (!answer.button.accept || choice === undefined) {
    return false;
  }
  await session.tell('device', choice.told);
  return true;
}
