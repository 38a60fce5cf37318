/**
 * Requests to the Jupyter server about records in a notebook, which may have no kernel
 * (jupyter_mlgpu/jupyter/server/receipts.py).
 */

import { RefusedError } from '../language/sentence';
import { fetchFromServer } from '../language/server';
import { LONG, object, printed } from '../language/untrusted';
import { readOpenReceipt, type IOpenReceipt } from './openreceipt';

/** Milliseconds to wait for the server's answer. */
const TIMEOUT = 30_000;

/** Return the open receipt of a saved record, requested once; null if the server cannot make it. */
export function openReceipt(record: object): Promise<IOpenReceipt | null> {
  let answer = known.get(record);
  if (answer === undefined) {
    answer = ask('receipt', { record }).then(readOpenReceipt, () => {
      known.delete(record);
      return null;
    });
    known.set(record, answer);
  }
  return answer;
}

const known = new WeakMap<object, Promise<IOpenReceipt | null>>();

/** Return the server's answer; rejects with RefusedError and its reason, or with a connection error. */
export async function ask(
  what: 'receipt' | 'comparison' | 'answer',
  question: object
): Promise<unknown> {
  const request = { method: 'POST', body: JSON.stringify(question) };
  const answer = await fetchFromServer(what, request, TIMEOUT);
  if (!answer.ok) {
    const reason = answer.status === 400 ? object(await answer.json())?.message : null;
    throw new RefusedError(printed(reason, LONG) ?? '');
  }
  return answer.json();
}
