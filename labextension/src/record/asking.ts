/**
 * What the Jupyter server says of records that stand in a notebook, for there may be no kernel to ask:
 * jupyter_mlgpu/jupyter/server/receipts.py.
 */

import { RefusedError } from '../language/sentence';
import { fetchFromServer } from '../language/server';
import { LONG, object, printed } from '../language/untrusted';
import { readOpenReceipt, type IOpenReceipt } from './openreceipt';

/** Milliseconds after which a server that does not answer is waited for no more. */
const PATIENCE = 30_000;

/** The open receipt of a record, as a notebook has it; null where no server of ours can be asked. Asked once. */
export function openReceipt(record: object): Promise<IOpenReceipt | null> {
  let asked = known.get(record);
  if (asked === undefined) {
    asked = ask('receipt', { record }).then(readOpenReceipt, () => {
      known.delete(record);
      return null;
    });
    known.set(record, asked);
  }
  return asked;
}

const known = new WeakMap<object, Promise<IOpenReceipt | null>>();

/** What the server answers; raises RefusedError with its reason, or what the connection raises. */
export async function ask(what: 'receipt' | 'comparison', question: object): Promise<unknown> {
  const request = { method: 'POST', body: JSON.stringify(question) };
  const answer = await fetchFromServer(what, request, PATIENCE);
  if (!answer.ok) {
    const said = answer.status === 400 ? object(await answer.json())?.message : null;
    throw new RefusedError(printed(said, LONG) ?? '');
  }
  return answer.json();
}
