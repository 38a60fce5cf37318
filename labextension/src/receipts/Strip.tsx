/**
 * The timeline strip of a cell: the CPU above, the GPUs below, as jupyter_mlgpu/show/receipts/strip.py draws
 * it. The legend has the sums.
 */

import { useId, type ReactElement } from 'react';

import { formatSeconds, formatShare } from '../record/format';
import type { Translate } from '../language/i18n';
import { known } from '../record/words';
import type { IRecord } from '../record/record';
import { KINDS, drawnLanesOf, durationOf, lanesOf, notDrawn } from '../record/strip';
import type { IBox, ILane, Kind } from '../record/strip';

const WIDTH = 720;
const LANE = 13;
const GAP = 2;
/** Hatching of each kind in a square of four points, so that colours are not needed. */
const PATTERNS = new Map<Kind, string>([
  ['n', 'M0 4L4 0'],
  ['i', 'M2 0V4'],
  ['c', 'M0 0L4 4M0 4L4 0'],
  ['w', 'M0 2H4'],
  ['copies', 'M0 0L4 4']
]);

/** The strip of a record; nothing if no lane is known. */
export function Strip(props: {
  record: IRecord;
  /** Height of all lanes together in points; by default as much as they need. */
  height?: number;
  /** Opens the page of its cell at a click; the keyboard has a button in the open receipt. */
  onPage?: (() => void) | null;
  t: Translate;
}): ReactElement | null {
  const { record, height, onPage = null, t } = props;
  const lanes = drawnLanesOf(record);
  const words = inWords(lanesOf(record), t);
  const duration = durationOf(record);
  const wall = known(record, 'wall_time')?.value ?? 0;
  const ended = record.asynchronous && duration > wall ? wall : null;
  return lanes.length === 0 ? null : (
    <Lanes {...{ lanes, words, duration, ended, height, onPage, t }} />
  );
}

/** Lanes over a duration in seconds, with a mark where the code ended while a GPU went on. */
export function Lanes(props: {
  lanes: readonly ILane[];
  /** Text for screen readers; by default the legend of the lanes. */
  words?: string;
  duration: number;
  ended: number | null;
  height?: number | undefined;
  onPage?: (() => void) | null;
  t: Translate;
}): ReactElement {
  const { lanes, duration, ended, t } = props;
  // Not made of the record: two notebooks may show the same one, and a pattern in a hidden tab paints nothing.
  const id = `jp-mlgpu-strip-${useId()}`;
  const words = props.words ?? inWords(lanes, t);
  const height = lanes.length * (LANE + GAP) - GAP;
  // Drawn in points, because a scaled pattern would be distorted.
  const scale = WIDTH / (duration || 1);
  const used = new Set(lanes.flatMap(lane => lane.boxes.map(({ kind }) => kind)));
  return (
    <div
      className="jp-mlgpu-Strip"
      onClick={props.onPage ?? undefined}
      data-opens-page={props.onPage != null}
    >
      <svg
        role="img"
        aria-label={t('strip', { legend: words })}
        viewBox={`0 0 ${WIDTH} ${height}`}
        preserveAspectRatio="none"
        style={{ height: `${props.height ?? height}px` }}
      >
        <defs>
          {[...used].map(kind => (
            <pattern
              key={kind}
              id={`${id}-${kind}`}
              width="4"
              height="4"
              patternUnits="userSpaceOnUse"
            >
              <rect width="4" height="4" data-kind={kind} />
              <path d={PATTERNS.get(kind) ?? ''} />
            </pattern>
          ))}
        </defs>
        {lanes.map((lane, number) => (
          <g key={lane.device ?? ''} transform={`translate(0 ${number * (LANE + GAP)})`}>
            <rect
              className="jp-mlgpu-Strip-lane"
              width={Math.min(WIDTH, scale * (lane.until ?? duration))}
              height={LANE}
            />
            {lane.boxes.map((box, index) => (
              <Box key={index} box={box} scale={scale} fill={`url(#${id}-${box.kind})`} t={t} />
            ))}
          </g>
        ))}
        {ended !== null && (
          <path className="jp-mlgpu-Strip-end" d={`M${scale * ended} 0V${height}`} />
        )}
      </svg>
    </div>
  );
}

/** The meaning of the colours, with the sums. Screen readers have the same from the strip. */
export function StripLegend(props: {
  record: IRecord;
  lanes: readonly ILane[];
  t: Translate;
}): ReactElement {
  const { record, lanes, t } = props;
  const missing = notDrawn(record);
  return (
    <div className="jp-mlgpu-Strip jp-mlgpu-Strip-legend" aria-hidden="true">
      {lanes.map((lane, number) => (
        <span key={lane.device ?? ''}>
          {number > 0 && ' · '}
          {laneName(lane, lanes)}
          {': '}
          {lane.sums.length === 0 && t('stripIdle')}
          {lane.sums.map(({ kind, seconds }, index) => (
            <span key={kind}>
              {index > 0 && ', '}
              <span className="jp-mlgpu-Strip-key" data-kind={kind} />
              {` ${nameOf(kind, t)} ${formatSeconds(seconds)}`}
            </span>
          ))}
        </span>
      ))}
      {missing !== null && ` · ${t(missing)}`}
    </div>
  );
}

function Box(props: { box: IBox; scale: number; fill: string; t: Translate }): ReactElement {
  const { box, scale, fill, t } = props;
  const { kind, from, to, bottom, top } = box;
  const what = [
    nameOf(kind, t),
    box.line && lineName(box.line, t),
    box.kernel,
    ...(box.each ?? []).map(({ device, share }) => `${device} ${formatShare(share)}`)
  ];
  const moments = {
    from: formatSeconds(from),
    to: formatSeconds(to),
    what: what.filter(Boolean).join(', ')
  };
  return (
    <rect
      x={scale * from}
      width={scale * (to - from)}
      y={LANE * (1 - top)}
      height={LANE * (top - bottom)}
      fill={fill}
    >
      <title>{t('stripMoment', moments)}</title>
    </rect>
  );
}

function nameOf(kind: Kind, t: Translate): string {
  return t(KINDS.get(kind) ?? 'stripNotSampled');
}

/** Return `GPU`, or the name of one of several. */
function laneName({ device }: ILane, lanes: readonly ILane[]): string {
  const gpus = lanes.filter(lane => lane.device !== null);
  return device === null ? 'CPU' : gpus.length === 1 ? 'GPU' : device;
}

/** Return `line 4`, or `line 4 of cell [2]` for a line of another cell. */
function lineName({ line, cell }: NonNullable<IBox['line']>, t: Translate): string {
  const values = { line: `${line}`, cell: `${cell ?? ''}` };
  return cell === null ? t('hotLine', values) : t('stripLineOf', values);
}

function inWords(lanes: readonly ILane[], t: Translate): string {
  return lanes
    .map(lane => {
      const sums = lane.sums.map(
        ({ kind, seconds }) => `${nameOf(kind, t)} ${formatSeconds(seconds)}`
      );
      return `${laneName(lane, lanes)}: ${sums.join(', ') || t('stripIdle')}`;
    })
    .join(' · ');
}
