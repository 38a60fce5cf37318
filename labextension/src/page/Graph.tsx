/**
 * One function of a plan as a drawing that can be moved and zoomed, also with the keyboard. The kernel
 * computes all positions.
 */

import { useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { KeyboardEvent, PointerEvent, ReactElement, RefObject } from 'react';

import type { Translate } from '../language/i18n';
import { fitted, textWidth } from './fitting';
import type { IBox, ICorner, IDrawing } from './graph';
import { SHAPES } from './KindMark';

const STEP = 1.25;
const SMALLEST = 0.02;
const LARGEST = 2.5;
/** Margin around the drawing, in its own points. */
const MARGIN = 8;
/** Room between a box and its texts. */
const EDGE = 8;
/** The sizes of an operation and of other texts, as in style/plan.css. */
const [LARGE, SMALL] = [12, 11];
/** Where an operation begins: behind its mark. */
const OPERATION_X = 22;

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
  // Zooming draws again, but the names stay as they are.
  const boxes = useMemo(() => fittedBoxes(drawing, t), [drawing, t]);
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
      {boxes.map((box, index) => (
        <Box key={index} box={box} t={t} />
      ))}
    </svg>
  );
}

interface IFittedBox extends IBox {
  /** The texts in the box, as much of them as fits. */
  lines: [operation: string, below: string];
}

function fittedBoxes({ boxes }: IDrawing, t: Translate): IFittedBox[] {
  const [large, small] = [textWidth(LARGE), textWidth(SMALL)];
  return boxes.map(box => {
    const lines: IFittedBox['lines'] = [
      fitted(box.operation, box.width - OPERATION_X - EDGE, large),
      fitted(below(box, t), box.width - 2 * EDGE, small)
    ];
    return { ...box, lines };
  });
}

/** Return what stands below an operation: its name, or the number of operations. */
function below(box: IBox, t: Translate): string {
  return box.count > 0 ? t('times', { count: box.count }) : box.name;
}

function Box(props: { box: IFittedBox; t: Translate }): ReactElement {
  const { box, t } = props;
  const { x, y, width, height, lines } = box;
  return (
    <g className="jp-mlgpu-Graph-box" data-kind={box.kind}>
      <title>{`${box.operation}, ${below(box, t)}: ${t.say(box.reason)}`}</title>
      <rect x={x} y={y} width={width} height={height} rx={4} />
      <path
        className="jp-mlgpu-Kind-mark"
        data-kind={box.kind}
        transform={`translate(${x + 5} ${y + 5})`}
        d={SHAPES[box.kind]}
        fillRule="evenodd"
      />
      <text x={x + OPERATION_X} y={y + 16}>
        {lines[0]}
      </text>
      <text className="jp-mlgpu-Graph-small" x={x + EDGE} y={y + 32}>
        {lines[1]}
      </text>
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
