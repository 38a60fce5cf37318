/**
 * The events of a cell on a canvas, as long as they took, what ran inside something below it; moved and zoomed
 * by mouse, buttons and keys. What is chosen is said in words, and a table lists what is in view.
 */

import {
  useDeferredValue,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState
} from 'react';
import type { KeyboardEvent, PointerEvent, ReactElement } from 'react';

import type { Message, Translate } from '../../language/i18n';
import { ROW, SCALE, eventAtPlace, placed, topOf } from '../../record/lanes';
import { cutAt } from '../../record/timeline';
import type { ITimeline, IView } from '../../record/timeline';
import { around, moved, whole, zoomed } from '../../record/timeview';
import { eventName, formatTime, laneOf, placeOf, scaleTime } from '../../record/eventwords';
import type { NameOf } from '../../record/eventwords';
import { useOwnedState } from '../../receipts/useOwnedState';
import { EventsTable } from './EventsTable';
import { drawTimeline } from './drawing';
import { useSize } from './useSize';
import { Button } from '../../receipts/controls';

/** Pixels of the picture: as high as its lanes, to this height; more is scrolled. */
const HIGHEST = 260;

/** Pixels within which a press and a release are a click. */
const STILL = 4;

/** How much a step zooms and moves. */
const ZOOM = 1.5;
const STEP = 0.2;

/** What is said of the time that is shown: in view, all of it, and by which keys. */
export type Words = Record<'view' | 'whole', Message>;

export function Timeline(props: {
  timeline: ITimeline;
  /** Whether lanes without an event are there, too. */
  all?: boolean;
  nameOf?: NameOf;
  words?: Words;
  t: Translate;
}): ReactElement {
  const { timeline, all = false, nameOf = placeOf, words = OF_A_CELL, t } = props;
  const most = useMemo(() => whole(timeline), [timeline]);
  const { lanes, height: full } = useMemo(() => placed(timeline.lanes, all), [timeline, all]);
  const [view, setView] = useState<IView>(() => views.get(timeline) ?? most);
  useEffect(() => {
    views.set(timeline, view);
  }, [timeline, view]);
  const [selected, setSelected] = useOwnedState<number | null>(timeline, 'chosen', null);
  const [scrolled, setScrolled] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const drag = useRef<{ x: number; y: number; from: IView; far: boolean } | null>(null);
  const { width, theme } = useSize(box);
  const height = Math.min(full + SCALE, HIGHEST);
  const keys = useId();
  const inTable = useDeferredValue(view);

  useLayoutEffect(() => {
    if (canvas.current !== null && width > 0) {
      drawTimeline(canvas.current, {
        timeline,
        lanes,
        view,
        selected,
        scrolled,
        width,
        height,
        cutAt: cutAt(timeline),
        nameOf: lane => nameOf(lane, t),
        time: nanoseconds => scaleTime(nanoseconds, view)
      });
    }
  }, [timeline, lanes, view, selected, scrolled, width, height, theme, nameOf, t]);

  // React hears wheels passively, so that a page could not be kept from scrolling.
  useLayoutEffect(() => {
    const element = box.current;
    const onWheel = (event: WheelEvent): void => {
      const sideways = event.shiftKey ? event.deltaY : event.deltaX;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const part = (event.clientX - (canvas.current?.getBoundingClientRect().left ?? 0)) / width;
        setView(now =>
          zoomed(now, 2 ** (event.deltaY / 200), now.from + part * (now.to - now.from), most)
        );
      } else if (sideways !== 0) {
        event.preventDefault();
        setView(now => moved(now, sideways / width, most));
      }
    };
    element?.addEventListener('wheel', onWheel, { passive: false });
    return () => element?.removeEventListener('wheel', onWheel);
  }, [most, width]);

  const step = (action: Step): void => setView(now => STEPS[action](now, most));
  const onKeyDown = (event: KeyboardEvent): void => {
    const action = KEYS[event.key];
    if (action !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      event.stopPropagation();
      step(action);
    }
  };
  const onPointerDown = (event: PointerEvent<HTMLDivElement>): void => {
    if (event.button === 0 && event.target === canvas.current) {
      event.currentTarget.setPointerCapture(event.pointerId);
      drag.current = { x: event.clientX, y: event.clientY, from: view, far: false };
    }
  };
  const onPointerMove = (event: PointerEvent): void => {
    const { current } = drag;
    if (current !== null) {
      const by = event.clientX - current.x;
      current.far ||= Math.abs(by) > STILL;
      if (current.far) {
        setView(moved(current.from, -by / width, most));
      }
    }
  };
  const onPointerUp = (event: PointerEvent): void => {
    const { current } = drag;
    const corner = canvas.current?.getBoundingClientRect();
    drag.current = null;
    if (current !== null && !current.far && corner !== undefined) {
      const x = event.clientX - corner.left;
      const y = event.clientY - corner.top - SCALE + scrolled;
      setSelected(eventAtPlace(timeline, lanes, view, width, [x, y]));
    }
  };
  const choose = (id: number): void => {
    setSelected(id);
    setView(now => around(timeline, id, now, most));
    const top = topOf(timeline, lanes, id);
    const element = box.current;
    if (element !== null && top !== null) {
      const [above, below] = [top - ROW, top + 2 * ROW - (height - SCALE)];
      element.scrollTop = Math.min(Math.max(element.scrollTop, below), above);
    }
  };

  const count = timeline.starts.length;
  return (
    <div className="jp-mlgpu-Timeline">
      <div className="jp-mlgpu-Timeline-buttons" role="group" aria-label={t('timelineSection')}>
        {BUTTONS.map(([action, sign, label]) => (
          <button
            key={action}
            type="button"
            className="jp-mlgpu-Chip"
            aria-label={t(label)}
            title={t(label)}
            onClick={() => step(action)}
          >
            {sign}
          </button>
        ))}
        <Button look="Chip" label={t(words.whole)} onClick={() => setView(most)} />
      </div>
      <div
        ref={box}
        className="jp-mlgpu-Timeline-box"
        role="application"
        aria-label={t('timelineLabel', { count })}
        aria-describedby={keys}
        tabIndex={0}
        // Under a cell its keys are not the notebook's.
        data-lm-suppress-shortcuts="true"
        style={{ height }}
        onScroll={event => setScrolled(event.currentTarget.scrollTop)}
        onKeyDown={onKeyDown}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
        onPointerCancel={() => {
          drag.current = null;
        }}
      >
        <canvas ref={canvas} style={{ height }} />
        <div style={{ height: full + SCALE - height }} />
      </div>
      <p className="jp-mlgpu-Quiet jp-mlgpu-Timeline-view">
        {t(words.view, {
          from: formatTime(view.from),
          to: formatTime(view.to)
        })}
      </p>
      <p className="jp-mlgpu-Timeline-chosen" role="status">
        {selected === null
          ? t('noEventChosen')
          : t('eventChosen', {
              name: eventName(timeline, selected),
              place: nameOf(laneOf(timeline, selected), t),
              start: formatTime(timeline.starts[selected] ?? 0),
              time: formatTime((timeline.ends[selected] ?? 0) - (timeline.starts[selected] ?? 0))
            })}
      </p>
      <p id={keys} className="jp-mlgpu-Quiet">
        {t('timelineKeys')}
      </p>
      <EventsTable
        timeline={timeline}
        view={inTable}
        selected={selected}
        nameOf={nameOf}
        onChoose={choose}
        t={t}
      />
    </div>
  );
}

const OF_A_CELL: Words = {
  view: 'timelineView',
  whole: 'timelineWhole'
};

/** What was looked at last, for when the sidebar is opened again. */
const views = new WeakMap<ITimeline, IView>();

type Step = 'left' | 'right' | 'in' | 'out' | 'whole';

const middle = ({ from, to }: IView): number => (from + to) / 2;

const STEPS: Record<Step, (view: IView, most: IView) => IView> = {
  left: (view, most) => moved(view, -STEP, most),
  right: (view, most) => moved(view, STEP, most),
  in: (view, most) => zoomed(view, 1 / ZOOM, middle(view), most),
  out: (view, most) => zoomed(view, ZOOM, middle(view), most),
  whole: (_, most) => most
};

const KEYS: Record<string, Step> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  '+': 'in',
  '=': 'in',
  '-': 'out',
  Home: 'whole'
};

const BUTTONS: [Step, string, Message][] = [
  ['left', '←', 'timelineLeft'],
  ['right', '→', 'timelineRight'],
  ['in', '+', 'timelineZoomIn'],
  ['out', '−', 'timelineZoomOut']
];
