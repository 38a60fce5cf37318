/** The notes that the kernel adds to a record. */

import type { ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import type { IRecord } from '../record/record';
import { Prose } from './Prose';

export function Notes(props: { record: IRecord; t: Translate }): ReactElement {
  return (
    <>
      {props.record.notes.map((note, index) => (
        <p key={index} className="jp-mlgpu-Note">
          <Prose text={props.t.say(note)} />
        </p>
      ))}
    </>
  );
}
