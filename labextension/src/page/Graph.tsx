/**
 * One function of a plan as a drawing that can be moved and zoomed, also with the keyboard. The kernel
 * computes all positions.
 */

import { useLayoutEffect, useRef, useState } from 'react';
import type { KeyboardEvent, PointerEvent, ReactElement, RefObject } from 'react';

import type { Translate } from '../language/i18n';
import type { IBox, ICorner, IDrawing } from './graph';
import { SHAPES } from './KindMark';

const STEP = 1.25;
const SMALLEST = 0.02;
const LARGEST = 2.5;
/** Margin around the drawing, in its own points. */
const MARGIN = 8;

export function Graph(props: { drawing: IDrawing; label: string; t: Translate }): ReactElement {
  const { drawing, label, t } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState(1);
  useCentre(scroller, zoom);
  const size = (by: number): void =>
    setZoom(before => Math.min(Math.max(before * by, SMALLEST), LARGEST));
  const fit = (): void => {
    const { clientWidth = 0, clientHeight = 0 } = scroller.current ?? {};
    const [width, height] = [drawing.width + 2 * MARGIN, drawing.height + 2 * MARGIN];
    setZoom(Math.max(Math.min(clientWidth / width, clientHeight / height, 1), SMALLEST));
  };
  const keys: Record<string, () => void> = {
    '+': () => size(STEP),
    '=': () => size(STEP),
    '-': () => size(1 / STEP),
    '0': fit
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const act = event.ctrlKey || event.metaKey ? undefined : keys[event.key];
    if (act !== undefined) {
      event.preventDefault();
      act();
    }
  };
  return (
    <div className="jp-mlgpu-Graph">
      <div className="jp-mlgpu-Graph-sizes">
        <SizeButton name={t('planLarger')} sign="+" onSize={() => size(STEP)} />
        <SizeButton name={t('planSmaller')} sign="−" onSize={() => size(1 / STEP)} />
        <SizeButton name={t('planFit')} sign={t('planFit')} onSize={fit} />
      </div>
      <div
        ref={scroller}
        className="jp-mlgpu-Graph-window"
        role="group"
        aria-label={`${t('planGraph', { name: drawing.name })}. ${t('planGraphKeys')}`}
        // The arrow keys scroll the drawing instead of changing the cell.
        data-lm-suppress-shortcuts="true"
        tabIndex={0}
        onKeyDown={onKeyDown}
        onPointerDown={startToMove}
        onPointerMove={move}
      >
        <Drawing drawing={drawing} zoom={zoom} label={label} t={t} />
      </div>
    </div>
  );
}

function SizeButton(props: { name: string; sign: string; onSize: () => void }): ReactElement {
  const { name, sign, onSize } = props;
  return (
    <button type="button" className="jp-mlgpu-Chip" aria-label={name} title={name} onClick={onSize}>
      {sign}
    </button>
  );
}

/** Keep the centre of the drawing when the zoom changes. */
function useCentre(scroller: RefObject<HTMLDivElement>, zoom: number): void {
  const before = useRef(zoom);
  useLayoutEffect(() => {
    const by = zoom / before.current;
    before.current = zoom;
    if (scroller.current && by !== 1) {
      const { scrollLeft, scrollTop, clientWidth, clientHeight } = scroller.current;
      scroller.current.scrollTo({
        left: (scrollLeft + clientWidth / 2) * by - clientWidth / 2,
        top: (scrollTop + clientHeight / 2) * by - clientHeight / 2
      });
    }
  }, [scroller, zoom]);
}

function startToMove(event: PointerEvent<HTMLDivElement>): void {
  // Touch scrolls natively.
  if (event.pointerType === 'mouse' && event.button === 0) {
    event.currentTarget.setPointerCapture(event.pointerId);
  }
}

function move(event: PointerEvent<HTMLDivElement>): void {
  const { currentTarget } = event;
  if (currentTarget.hasPointerCapture(event.pointerId)) {
    currentTarget.scrollLeft -= event.movementX;
    currentTarget.scrollTop -= event.movementY;
  }
}

function Drawing(props: {
  drawing: IDrawing;
  zoom: number;
  label: string;
  t: Translate;
}): ReactElement {
  const { drawing, zoom, label, t } = props;
  const [width, height] = [drawing.width + 2 * MARGIN, drawing.height + 2 * MARGIN];
  return (
    <svg
      role="img"
      aria-label={label}
      width={width * zoom}
      height={height * zoom}
      viewBox={`${-MARGIN} ${-MARGIN} ${width} ${height}`}
    >
      {drawing.frames.map((frame, index) => (
        <g key={index}>
          <rect
            className="jp-mlgpu-Graph-frame"
            x={frame.x}
            y={frame.y}
            width={frame.width}
            height={frame.height}
            rx={6}
          />
          {!drawing.whole && (
            <text
              className="jp-mlgpu-Graph-small"
              x={frame.x + frame.width / 2}
              y={frame.y + 17}
              textAnchor="middle"
            >
              {t(frame.hidden > 0 ? 'planFrameHidden' : 'planFrame', {
                count: frame.operations,
                hidden: frame.hidden
              })}
            </text>
          )}
        </g>
      ))}
      {drawing.arrows.map((arrow, index) => (
        <path key={index} className="jp-mlgpu-Graph-arrow" d={curve(arrow)} />
      ))}
      {drawing.boxes.map((box, index) => (
        <Box key={index} box={box} t={t} />
      ))}
    </svg>
  );
}

function Box(props: { box: IBox; t: Translate }): ReactElement {
  const { box, t } = props;
  const { x, y, width, height } = box;
  const below = box.count > 0 ? t('times', { count: box.count }) : box.name;
  return (
    <g className="jp-mlgpu-Graph-box" data-kind={box.kind}>
      <title>{`${below}: ${t.say(box.reason)}`}</title>
      <rect x={x} y={y} width={width} height={height} rx={4} />
      <path
        className="jp-mlgpu-Kind-mark"
        data-kind={box.kind}
        transform={`translate(${x + 5} ${y + 5})`}
        d={SHAPES[box.kind]}
        fillRule="evenodd"
      />
      {/* The width of letters depends on the reader's font; the nested svg clips long text at the box. */}
      <svg x={x} y={y} width={width - 4} height={height}>
        <text x="22" y="16">
          {ending(box.operation, 19)}
        </text>
        <text className="jp-mlgpu-Graph-small" x="8" y="32">
          {ending(below, 25)}
        </text>
      </svg>
    </g>
  );
}

/** Return an SVG path of straight lines and bends; a bend stays between its two corners. */
function curve(corners: readonly ICorner[]): string {
  return corners
    .map(({ x, y }, index) => {
      const before = corners[index - 1];
      if (before === undefined) {
        return `M${x} ${y}`;
      }
      if (before.x === x || before.y === y) {
        return `L${x} ${y}`;
      }
      const middle = (before.x + x) / 2;
      return `C${middle} ${before.y} ${middle} ${y} ${x} ${y}`;
    })
    .join('');
}

/** Return the end of a long name, which distinguishes it from its neighbours. */
function ending(name: string, most: number): string {
  return name.length <= most ? name : `…${name.slice(1 - most)}`;
}
