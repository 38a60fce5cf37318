/** One line under a cell for its harmless native lines, which it reveals as they were written. */

import { useEffect, useId, useState, type ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import { foldedInWords, type NativeLines } from '../record/folding';
import type { IRecord } from '../record/record';
import type { ICellOutputs } from './providers';
import { Caret } from './icons';

const NONE: readonly string[] = [];

export function FoldedLines(props: {
  record: IRecord;
  /** The outputs of the cell; null if they cannot be changed. */
  outputs: ICellOutputs | null;
  wanted: NativeLines;
  t: Translate;
}): ReactElement | null {
  const { record, outputs, wanted, t } = props;
  const [messages, setMessages] = useState(NONE);
  const [open, setOpen] = useState(false);
  const lines = useId();
  useEffect(() => {
    const end = outputs?.fold(record, wanted, setMessages);
    return () => {
      end?.();
      setMessages(NONE);
    };
  }, [outputs, record, wanted]);
  if (messages.length === 0) {
    return null;
  }
  return (
    <div className="jp-mlgpu-FoldedLines">
      <button
        type="button"
        className="jp-mlgpu-FoldedLines-line"
        aria-expanded={open}
        aria-controls={lines}
        onClick={() => setOpen(!open)}
      >
        <Caret open={open} />
        {foldedInWords(messages.length, record.native, t)}
      </button>
      <pre id={lines} hidden={!open}>
        {open && messages.join('\n')}
      </pre>
    </div>
  );
}
