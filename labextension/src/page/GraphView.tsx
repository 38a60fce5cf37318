/** The functions of a plan: operations by kind, one function as a drawing, and the same as a table. */

import { useState, type ReactElement } from 'react';

import { KINDS, type IDrawing, type IGraph, type Kind } from './graph';
import type { Translate } from '../language/i18n';
import { Select } from '../receipts/controls';
import { Fold } from '../receipts/Fold';
import { Table } from '../receipts/Table';
import { Graph } from './Graph';
import { KindMark, KindName } from './KindMark';

export function GraphView(props: { graph: IGraph; t: Translate }): ReactElement {
  const { graph, t } = props;
  return (
    <>
      <Counts graph={graph} t={t} />
      <Drawings graph={graph} t={t} />
      {graph.moreFunctions > 0 && (
        <p className="jp-mlgpu-Quiet">{t('planMoreFunctions', { count: graph.moreFunctions })}</p>
      )}
    </>
  );
}

/** The number of operations of each kind, and the legend of the drawing. */
function Counts(props: { graph: IGraph; t: Translate }): ReactElement {
  const { graph, t } = props;
  return (
    <ul className="jp-mlgpu-Counts">
      {KINDS.map(kind => (
        <li key={kind}>
          <KindMark kind={kind} />
          {countOf(kind, graph.counts[kind], graph, t)}
        </li>
      ))}
    </ul>
  );
}

function countOf(kind: Kind, count: number, graph: IGraph, t: Translate): string {
  const [own, shared] = graph.layers
    ? (['planOwnLayers', 'planSharedLayers'] as const)
    : (['planOwn', 'planShared'] as const);
  const message = { own, shared, cpu: 'planCpu' as const }[kind];
  return t(message, { count: count, target: graph.target });
}

function Drawings(props: { graph: IGraph; t: Translate }): ReactElement | null {
  const { graph, t } = props;
  const [chosen, setChosen] = useState(0);
  const drawing = graph.drawings[chosen] ?? graph.drawings[0];
  if (drawing === undefined) {
    return null;
  }
  const words = wordsOf(drawing, t);
  return (
    <>
      {graph.drawings.length > 1 && (
        <Select
          label={t('planFunction')}
          value={String(chosen)}
          options={graph.drawings.map((one, index) => [
            String(index),
            `${one.name} (${one.operations.toLocaleString()})`
          ])}
          onChoose={index => setChosen(Number(index))}
        />
      )}
      <p className="jp-mlgpu-Quiet">
        {words}
        {drawing.moreArrows > 0 && ` ${t('planMoreArrows', { count: drawing.moreArrows })}`}
      </p>
      <Graph
        key={chosen}
        drawing={drawing}
        label={`${words} ${counted(drawing, graph, t)}`}
        t={t}
      />
      <Fold key={`table ${chosen}`} label={t('planList')}>
        {() => <Boxes drawing={drawing} graph={graph} t={t} />}
      </Fold>
    </>
  );
}

function wordsOf(drawing: IDrawing, t: Translate): string {
  return t(drawing.whole ? 'planAllShown' : 'planSomeShown', {
    name: drawing.name,
    count: drawing.operations,
    shown: drawing.shown,
    frames: drawing.frames.length,
    groups: drawing.groups
  });
}

/** Return the number of boxes by kind, for screen readers. */
function counted(drawing: IDrawing, graph: IGraph, t: Translate): string {
  const numbers: Record<Kind, number> = { own: 0, shared: 0, cpu: 0 };
  for (const { kind, count } of drawing.boxes) {
    numbers[kind] += Math.max(count, 1);
  }
  return KINDS.map(kind => countOf(kind, numbers[kind], graph, t)).join(', ');
}

function Boxes(props: { drawing: IDrawing; graph: IGraph; t: Translate }): ReactElement {
  const { drawing, graph, t } = props;
  return (
    <div className="jp-mlgpu-Details">
      <Table
        label={t('planGraph', { name: drawing.name })}
        heads={[
          t('operation'),
          t(drawing.whole ? 'planName' : 'planCount'),
          t('planWhere'),
          t('planReason')
        ]}
      >
        {drawing.boxes.map((box, index) => (
          <tr key={index}>
            <th scope="row">{box.operation}</th>
            <td>{box.count > 0 ? box.count.toLocaleString() : box.name}</td>
            <td>
              <KindName kind={box.kind} graph={graph} t={t} />
            </td>
            <td>{t.say(box.reason)}</td>
          </tr>
        ))}
      </Table>
    </div>
  );
}
