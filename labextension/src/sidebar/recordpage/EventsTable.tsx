/** The events in view as a table: made while it is open. */

import { useMemo } from 'react';
import type { ReactElement } from 'react';

import { formatTime, laneOf } from '../../record/eventwords';
import type { NameOf } from '../../record/eventwords';
import type { Message, Translate } from '../../language/i18n';
import { countInView, inView } from '../../record/timeline';
import type { ITimeline, IView } from '../../record/timeline';
import { Fold } from '../../receipts/Fold';
import { WindowedTable } from './WindowedTable';

/** Events that are listed; who wants others zooms in. */
const LISTED = 5_000;

type Column = 'event' | 'place' | 'start' | 'takes';

const HEADS: [Column, Message][] = [
  ['event', 'eventColumn'],
  ['start', 'eventStart'],
  ['takes', 'eventTakes'],
  ['place', 'eventPlace']
];

interface IEventsTable {
  timeline: ITimeline;
  view: IView;
  selected: number | null;
  nameOf: NameOf;
  onChoose: (id: number) => void;
  t: Translate;
}

export function EventsTable(props: IEventsTable): ReactElement {
  const { timeline, view, t } = props;
  const count = countInView(timeline, view);
  return (
    <Fold label={t('eventsInView', { count })} name="Timeline-events">
      {() => <Events {...props} />}
    </Fold>
  );
}

function Events(props: IEventsTable): ReactElement {
  const { timeline, view, selected, nameOf, onChoose, t } = props;
  const ids = useMemo(() => inView(timeline, view), [timeline, view]);
  const listed = ids.subarray(0, LISTED);
  const columns = useMemo(
    () =>
      HEADS.map(([id, label]) => ({
        id,
        label: t(label),
        figures: id === 'start' || id === 'takes'
      })),
    [t]
  );
  const titleOf = (row: number): string =>
    timeline.names[timeline.name[listed[row] ?? -1] ?? -1]?.name ?? '';
  const cell = (row: number, column: Column): string => {
    const id = listed[row] ?? -1;
    const [start, end] = [timeline.starts[id] ?? 0, timeline.ends[id] ?? 0];
    switch (column) {
      case 'event':
        return titleOf(row);
      case 'place':
        return nameOf(laneOf(timeline, id), t);
      case 'start':
        return formatTime(start);
      case 'takes':
        return formatTime(end - start);
    }
  };
  return (
    <>
      {ids.length > LISTED && (
        <p className="jp-mlgpu-Quiet">{t('eventsListed', { count: LISTED })}</p>
      )}
      <WindowedTable
        label={t('eventsInView', { count: ids.length })}
        columns={columns}
        count={listed.length}
        cell={cell}
        title={titleOf}
        selected={selected === null ? -1 : listed.indexOf(selected)}
        onChoose={row => onChoose(listed[row] ?? 0)}
      />
    </>
  );
}
