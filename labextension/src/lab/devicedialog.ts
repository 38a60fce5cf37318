/** Choosing a device from a command: a question, and the answer told to the kernel. */

import { InputDialog } from '@jupyterlab/apputils';

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
  const labels = words.map(word => (word === 'any' ? t('firstDevice') : word));
  const answer = await InputDialog.getItem({
    title: t('chooseTitle', { notebook: session.name }),
    label: t('chooseLabel'),
    items: labels,
    current: Math.max(0, words.indexOf(inWords(device?.requested ?? []))),
    okLabel: t('chooseOk'),
    cancelLabel: t('cancel')
  });
  const word = words[labels.indexOf(answer.value ?? '')];
  if (!answer.button.accept || word === undefined) {
    return false;
  }
  await session.tell('device', { word, framework: null });
  return true;
}
