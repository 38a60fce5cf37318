/** A chart of lines, points and bars over two axes. Each series has its own marker besides its colour. */

import { useCallback, useState, type ReactElement } from 'react';

import type { Translate } from '../language/i18n';
import type { IChart, IRule, ISeries } from './pagetypes';
import { scaleOf, ticksOf, type IRoom, type ITick, type Scale } from './scales';
import { plain } from '../language/prose';
import { Prose } from '../receipts/Prose';

/** Height as a part of the width, with its limits in pixels. */
const HIGH = 0.5;
const LOWEST = 170;
const HIGHEST = 300;
/** Height in pixels of a horizontal bar, and smallest width of the chart. */
const ROW = 26;
const NARROWEST = 200;
/** Estimated width of a letter, and distance between two labels, in pixels. */
const LETTER = 6.5;
const APART = 8;
/** Number of colours in the style sheet. */
const COLOURS = 8;

/** Scales from a chart's numbers to pixels. */
interface IScales {
  x: Scale;
  y: Scale;
}

/** A chart; `above` has the sentences above it, which are not repeated. */
export function ChartView(props: {
  chart: IChart;
  above: ReadonlySet<string>;
  t: Translate;
}): ReactElement {
  const { chart, above, t } = props;
  const [measured, ref] = useWidth(480);
  const width = Math.max(measured, NARROWEST);
  const names = chart.lies ? chart.y.ticks.map(([, label]) => t.say(label).length) : [];
  const left = Math.min(Math.max(58, LETTER * Math.max(0, ...names) + 12), width / 2);
  const height = chart.lies
    ? ROW * names.length + 50
    : Math.round(Math.min(Math.max(HIGH * width, LOWEST), HIGHEST));
  const room: IRoom = { left, right: width - 24, top: 10, bottom: height - 40 };
  const x = scaleOf(chart.x, room.left, room.right);
  const y = scaleOf(chart.y, room.bottom, room.top);
  const [title, upward] = [t.say(chart.x.title), t.say(chart.y.title)];
  return (
    <div ref={ref} className="jp-mlgpu-Plot">
      {chart.title
        .map(t.say)
        .filter(line => !above.has(line))
        .map((line, index) => (
          <p key={index}>{line}</p>
        ))}
      <Legend series={chart.series} t={t} />
      {upward !== '' && <p className="jp-mlgpu-Quiet">{upward}</p>}
      <svg role="img" aria-label={plain(t.say(chart.words))} width={width} height={height}>
        {ticksOf(chart.y, y, t.say, () => 18).map((tick, index) => (
          <Across key={index} tick={tick} room={room} />
        ))}
        {ticksOf(chart.x, x, t.say, label => LETTER * label.length + APART).map((tick, index) => (
          <Along key={index} tick={tick} room={room} />
        ))}
        <text x={(room.left + room.right) / 2} y={room.bottom + 34} textAnchor="middle">
          {title}
        </text>
        {chart.rules.map((rule, index) => (
          <Rule key={index} rule={rule} x={x} room={room} t={t} />
        ))}
        <Bars chart={chart} scales={{ x, y }} t={t} />
        {chart.series.map((one, index) => (
          <Series key={index} series={one} scales={{ x, y }} lies={chart.lies} t={t} />
        ))}
      </svg>
      {[...chart.rules.map(({ label }) => label), ...chart.notes].map((line, index) => (
        <p key={index} className="jp-mlgpu-Plot-words">
          <Prose text={t.say(line)} />
        </p>
      ))}
    </div>
  );
}

function Legend(props: { series: readonly ISeries[]; t: Translate }): ReactElement {
  const { series, t } = props;
  return (
    <ul className="jp-mlgpu-Counts">
      {series
        .filter(({ name }) => name !== '')
        .map((one, index) => (
          <li key={index}>
            <svg width="28" height="12" aria-hidden="true" {...attributesOf(one)}>
              {isLine(one) && <path className="jp-mlgpu-Plot-line" d="M0 6H28" />}
              {one.mark !== 'roof' && <Marker colour={one.colour} x={14} y={6} />}
            </svg>
            {t.say(one.name)}
          </li>
        ))}
    </ul>
  );
}

/** Return the attributes that the style sheet selects by. */
function attributesOf({ colour, mark, dashed }: ISeries): Record<string, unknown> {
  return {
    className: 'jp-mlgpu-Plot-series',
    'data-colour': colour % COLOURS,
    'data-mark': mark,
    'data-dashed': dashed || undefined
  };
}

function isLine({ mark }: ISeries): boolean {
  return mark === 'line' || mark === 'roof';
}

/** A tick of the vertical axis, with its grid line. */
function Across(props: { tick: ITick; room: IRoom }): ReactElement {
  const { tick, room } = props;
  return (
    <>
      <path className="jp-mlgpu-Plot-grid" d={`M${room.left} ${tick.at}H${room.right}`} />
      <text x={room.left - 6} y={tick.at + 4} textAnchor="end">
        {tick.label}
      </text>
    </>
  );
}

/** A tick of the horizontal axis, with its grid line. */
function Along(props: { tick: ITick; room: IRoom }): ReactElement {
  const { tick, room } = props;
  return (
    <>
      <path className="jp-mlgpu-Plot-grid" d={`M${tick.at} ${room.top}V${room.bottom}`} />
      <text x={tick.at} y={room.bottom + 16} textAnchor="middle">
        {tick.label}
      </text>
    </>
  );
}

function Rule(props: { rule: IRule; x: Scale; room: IRoom; t: Translate }): ReactElement {
  const { rule, x, room, t } = props;
  const [from, to] = [x(rule.low ?? rule.at), x(rule.high ?? rule.at)];
  return (
    <g className="jp-mlgpu-Plot-rule">
      <title>{t.say(rule.label)}</title>
      <rect
        x={Math.min(from, to)}
        y={room.top}
        width={Math.abs(to - from)}
        height={room.bottom - room.top}
      />
      <path d={`M${x(rule.at)} ${room.top}V${room.bottom}`} />
    </g>
  );
}

function Bars(props: { chart: IChart; scales: IScales; t: Translate }): ReactElement {
  const { chart, scales, t } = props;
  const { bars, lies, series } = chart;
  const { x, y } = scales;
  return (
    <>
      {bars.map(([number, place, thick, start, end], index) => {
        const corner = (along: number, value: number): [number, number] =>
          lies ? [x(value), y(along)] : [x(along), y(value)];
        const [left, top] = corner(place - thick / 2, start);
        const [right, bottom] = corner(place + thick / 2, end);
        const one = series[number];
        return (
          one && (
            <rect
              key={index}
              {...attributesOf(one)}
              x={Math.min(left, right)}
              y={Math.min(top, bottom)}
              width={Math.abs(right - left)}
              height={Math.abs(bottom - top)}
            >
              <title>{t.say(one.name)}</title>
            </rect>
          )
        );
      })}
    </>
  );
}

function Series(props: {
  series: ISeries;
  scales: IScales;
  lies: boolean;
  t: Translate;
}): ReactElement {
  const { series, lies, t } = props;
  const { x, y } = props.scales;
  const points = series.points.map(([across, up, low, high, label]) => ({
    x: x(across),
    y: y(up),
    spread: low === null || high === null ? null : [low, high].map(lies ? x : y),
    label: t.say(label)
  }));
  const line = points.map((point, index) => `${index === 0 ? 'M' : 'L'}${point.x} ${point.y}`);
  return (
    <g {...attributesOf(series)}>
      {isLine(series) && <path className="jp-mlgpu-Plot-line" d={line.join('')} />}
      {series.mark !== 'roof' &&
        points.map((point, index) => (
          <g key={index}>
            <title>{point.label}</title>
            {point.spread && <Spread ends={point.spread} x={point.x} y={point.y} lies={lies} />}
            {series.mark !== 'bar' && <Marker colour={series.colour} x={point.x} y={point.y} />}
          </g>
        ))}
    </g>
  );
}

function Spread(props: {
  ends: readonly number[];
  x: number;
  y: number;
  lies: boolean;
}): ReactElement {
  const { ends, x, y, lies } = props;
  const [low = 0, high = 0] = ends;
  const path = lies
    ? `M${low} ${y}H${high}M${low} ${y - 4}v8M${high} ${y - 4}v8`
    : `M${x} ${low}V${high}M${x - 4} ${low}h8M${x - 4} ${high}h8`;
  return <path className="jp-mlgpu-Plot-spread" d={path} />;
}

/** A marker, whose shape depends on the colour. */
function Marker(props: { colour: number; x: number; y: number }): ReactElement {
  const { colour, x, y } = props;
  return (
    <path
      className="jp-mlgpu-Plot-marker"
      transform={`translate(${x} ${y})`}
      d={MARKERS[colour % MARKERS.length]}
    />
  );
}

const MARKERS = [
  // Disc, square, triangle, diamond, cross.
  'M0-4a4 4 0 1 1 0 8a4 4 0 1 1 0-8z',
  'M-3.5-3.5h7v7h-7z',
  'M0-4.5l4.5 8h-9z',
  'M0-5l4 5-4 5-4-5z',
  'M-1.2-4h2.4v2.8H4v2.4H1.2V4h-2.4V1.2H-4v-2.4h2.8z'
];

/** Return the width of the element that gets `ref`, in pixels. */
function useWidth(initial: number): [width: number, ref: (node: HTMLElement | null) => void] {
  const [width, setWidth] = useState(initial);
  const [observer] = useState(
    () =>
      new ResizeObserver(entries => {
        const measured = Math.floor(entries.at(-1)?.contentRect.width ?? 0);
        // A hidden element has no width; the last one is kept.
        if (measured > 0) {
          setWidth(measured);
        }
      })
  );
  const ref = useCallback(
    (node: HTMLElement | null) => {
      observer.disconnect();
      if (node !== null) {
        observer.observe(node);
      }
    },
    [observer]
  );
  return [width, ref];
}
