/** What would run where: in words, as a drawing, and as tables. The same under a cell and in the sidebar. */

import { useState } from 'react';
import type { ReactElement } from 'react';

import type { Translate } from '../../i18n';
import { cutInWords } from '../../notes';
import { KINDS } from '../../plan';
import type { IDrawing, IPlan, Kind } from '../../plan';
import { Fold } from '../Fold';
import { Graph } from './Graph';
import { KindMark, KindName } from './KindMark';
import { Crossings, Fallbacks, Subgraphs } from './PlanTables';

export function PlanView(props: { plan: IPlan; t: Translate }): ReactElement {
  const { plan, t } = props;
  const title = t('planTitle', { subject: t.say(plan.subject), target: plan.target });
  const cut = [...plan.cut].map(part => cutInWords(part, t)).join(', ');
  return (
    <section className="jp-mlgpu-Figure" aria-label={title}>
      <h3>{title}</h3>
      <p className="jp-mlgpu-Note">{t('planForecast')}</p>
      <p className="jp-mlgpu-Quiet">
        {t('planTable', { count: plan.operations.toLocaleString(), table: t.say(plan.table) })}
      </p>
      <Counts plan={plan} t={t} />
      <Drawings plan={plan} t={t} />
      <Fallbacks plan={plan} t={t} />
      <Subgraphs plan={plan} t={t} />
      <Crossings plan={plan} t={t} />
      {cut !== '' && <p className="jp-mlgpu-Quiet">{t('planCut', { parts: cut })}</p>}
      <Fold label={t('planNotes')}>
        {() => (
          <ul className="jp-mlgpu-Figure-notes">
            {plan.notes.map((note, index) => (
              <li key={index}>{t.say(note)}</li>
            ))}
          </ul>
        )}
      </Fold>
    </section>
  );
}

/** How many operations there are of each kind, which is also what the drawing's shapes mean. */
function Counts(props: { plan: IPlan; t: Translate }): ReactElement {
  const { plan, t } = props;
  return (
    <ul className="jp-mlgpu-Counts">
      {KINDS.map(kind => (
        <li key={kind}>
          <KindMark kind={kind} />
          {countOf(kind, plan.counts[kind], plan, t)}
        </li>
      ))}
    </ul>
  );
}

function countOf(kind: Kind, count: number, plan: IPlan, t: Translate): string {
  const [own, shared] = plan.layers
    ? (['planOwnLayers', 'planSharedLayers'] as const)
    : (['planOwn', 'planShared'] as const);
  const message = { own, shared, cpu: 'planCpu' as const }[kind];
  return t(message, { count: count.toLocaleString(), target: plan.target });
}

function Drawings(props: { plan: IPlan; t: Translate }): ReactElement | null {
  const { plan, t } = props;
  const [chosen, setChosen] = useState(0);
  const drawing = plan.drawings[chosen] ?? plan.drawings[0];
  if (drawing === undefined) {
    return null;
  }
  const words = wordsOf(drawing, t);
  return (
    <>
      {plan.drawings.length > 1 && (
        <select
          className="jp-mlgpu-Input"
          aria-label={t('planFunction')}
          value={chosen}
          onChange={event => setChosen(Number(event.target.value))}
        >
          {plan.drawings.map((one, index) => (
            <option key={index} value={index}>
              {`${one.name} (${one.operations.toLocaleString()})`}
            </option>
          ))}
        </select>
      )}
      <p className="jp-mlgpu-Quiet">
        {words}
        {drawing.moreArrows > 0 &&
          ` ${t('planMoreArrows', { count: drawing.moreArrows.toLocaleString() })}`}
      </p>
      <Graph key={chosen} drawing={drawing} label={`${words} ${counted(drawing, plan, t)}`} t={t} />
      <Fold key={`table ${chosen}`} label={t('planList')}>
        {() => <Boxes drawing={drawing} plan={plan} t={t} />}
      </Fold>
    </>
  );
}

function wordsOf(drawing: IDrawing, t: Translate): string {
  return t(drawing.whole ? 'planAllShown' : 'planSomeShown', {
    name: drawing.name,
    count: drawing.operations.toLocaleString(),
    shown: drawing.shown.toLocaleString(),
    frames: drawing.frames.length.toLocaleString(),
    groups: drawing.groups.toLocaleString()
  });
}

/** The drawing's boxes by kind, for who cannot see them. */
function counted(drawing: IDrawing, plan: IPlan, t: Translate): string {
  const numbers: Record<Kind, number> = { own: 0, shared: 0, cpu: 0 };
  for (const { kind, count } of drawing.boxes) {
    numbers[kind] += Math.max(count, 1);
  }
  return KINDS.map(kind => countOf(kind, numbers[kind], plan, t)).join(', ');
}

function Boxes(props: { drawing: IDrawing; plan: IPlan; t: Translate }): ReactElement {
  const { drawing, plan, t } = props;
  return (
    <div className="jp-mlgpu-Details">
      <table aria-label={t('planGraph', { name: drawing.name })}>
        <thead>
          <tr>
            <th scope="col">{t('planOperation')}</th>
            <th scope="col">{t(drawing.whole ? 'planName' : 'planCount')}</th>
            <th scope="col">{t('planWhere')}</th>
            <th scope="col">{t('planReason')}</th>
          </tr>
        </thead>
        <tbody>
          {drawing.boxes.map((box, index) => (
            <tr key={index}>
              <th scope="row">{box.operation}</th>
              <td>{box.count > 0 ? box.count.toLocaleString() : box.name}</td>
              <td>
                <KindName kind={box.kind} plan={plan} t={t} />
              </td>
              <td>{t.say(box.reason)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
