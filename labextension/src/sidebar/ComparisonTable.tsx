/** What changed from A to B: each quantity with both medians, their spread, and what can be said of it. */

import type { ReactElement } from 'react';

import { changeName, ratioInWords, spreadInWords } from '../record/comparison';
import type { IChange, IPair, ISpread, Judgement } from '../record/comparison';
import type { Message, Translate } from '../language/i18n';
import { Sides, SidesRow } from './Sides';

const WORDS: Record<Judgement, Message> = {
  more: 'more',
  less: 'less',
  'the same': 'same',
  'no difference shown': 'noDifference',
  'cannot judge': 'cannotJudge'
};

/** For the eye beside the words; never instead of them. */
const MARKS: Record<Judgement, string> = {
  more: '▲',
  less: '▼',
  'the same': '=',
  'no difference shown': '≈',
  'cannot judge': '?'
};

export function ComparisonTable(props: { pair: IPair; t: Translate }): ReactElement {
  const { pair, t } = props;
  const { changes, operations, notes } = pair;
  return (
    <>
      {changes.length > 0 ? (
        <Changes label={t('comparison')} changes={changes} t={t} />
      ) : (
        <p>{t('nothingToCompare')}</p>
      )}
      {operations.length > 0 && (
        <>
          <p className="jp-mlgpu-Quiet">{t('aboutProfiled')}</p>
          <Changes label={t('operations')} changes={operations} t={t} />
        </>
      )}
      {notes.length > 0 && (
        <ul className="jp-mlgpu-Comparison-notes">
          {notes.map((note, index) => (
            <li key={index}>{t.say(note)}</li>
          ))}
        </ul>
      )}
      <p className="jp-mlgpu-Quiet">{t('aboutComparison')}</p>
    </>
  );
}

function Changes(props: {
  label: string;
  changes: readonly IChange[];
  t: Translate;
}): ReactElement {
  const { label, changes, t } = props;
  return (
    <Sides label={label}>
      {changes.map((change, index) => (
        <SidesRow
          key={index}
          name={changeName(change, t)}
          below={
            <td colSpan={2} data-judgement={change.judgement}>
              <span aria-hidden="true">{MARKS[change.judgement]} </span>
              {t(WORDS[change.judgement], { why: t.say(change.whyNot ?? '') })}
              {change.ratio && (
                <span className="jp-mlgpu-Quiet"> {ratioInWords(change.ratio, t)}</span>
              )}
            </td>
          }
        >
          <Spread spread={change.first} unit={change.unit} t={t} />
          <Spread spread={change.second} unit={change.unit} t={t} />
        </SidesRow>
      ))}
    </Sides>
  );
}

function Spread(props: { spread: ISpread | null; unit: string; t: Translate }): ReactElement {
  const { spread, unit, t } = props;
  if (spread === null) {
    return <td className="jp-mlgpu-Quiet">{t('notMeasured')}</td>;
  }
  const [median, between] = spreadInWords(spread, unit, t);
  return (
    <td>
      {median} <span className="jp-mlgpu-Quiet">{between}</span>
    </td>
  );
}
