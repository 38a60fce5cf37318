/** The timeline on a canvas: only what is in sight, in the theme's colours. */

import { ROW, SCALE, TITLE } from '../../record/lanes';
import type { IPlaced } from '../../record/lanes';
import { bars } from '../../record/timeline';
import type { ITimeline, IView } from '../../record/timeline';
import { ticks } from '../../record/timeview';

export interface IPicture {
  timeline: ITimeline;
  lanes: readonly IPlaced[];
  view: IView;
  selected: number | null;
  /** Pixels that the lanes are scrolled up. */
  scrolled: number;
  width: number;
  height: number;
  /** The moment after which events are not here; null: all are. */
  cutAt: number | null;
  nameOf: (lane: IPlaced['lane']) => string;
  time: (nanoseconds: number) => string;
}

/** Pixels that a tick's words need, that an event's name needs, and around that name. */
const TICK = 70;
const NAMED = 28;
const INSET = 3;

const FILLS = [
  '--jp-brand-color1',
  '--jp-accent-color1',
  '--jp-info-color1',
  '--jp-success-color1',
  '--jp-warn-color1'
];

export function drawTimeline(canvas: HTMLCanvasElement, picture: IPicture): void {
  const context = canvas.getContext('2d');
  if (context === null) {
    return;
  }
  const { width, height } = picture;
  const ratio = window.devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  const style = getComputedStyle(canvas);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const theme = {
    text: colour('--jp-ui-font-color1'),
    quiet: colour('--jp-ui-font-color2'),
    line: colour('--jp-border-color2'),
    paper: colour('--jp-layout-color1'),
    fills: FILLS.map(name => fillOf(context, colour(name)))
  };
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = `11px ${colour('--jp-ui-font-family')}`;
  context.textBaseline = 'middle';
  drawTicks(context, picture, theme.line);
  drawCut(context, picture, theme.line);
  for (const { lane, top } of picture.lanes) {
    const y = SCALE + top - picture.scrolled;
    if (y > height || y + TITLE + lane.rows.length * ROW < SCALE) {
      continue;
    }
    context.fillStyle = theme.quiet;
    context.fillText(picture.nameOf(lane), INSET, y + TITLE / 2);
    lane.rows.forEach((row, index) => {
      drawRow(context, picture, row, y + TITLE + index * ROW, theme);
    });
  }
  // The scale stands over what is scrolled.
  context.fillStyle = theme.paper;
  context.fillRect(0, 0, width, SCALE);
  context.fillStyle = theme.quiet;
  for (const tick of ticks(picture.view, width / TICK)) {
    context.fillText(picture.time(tick), at(picture, tick) + INSET, SCALE / 2);
  }
}

interface IFill {
  fill: string;
  ink: string;
}

interface ITheme {
  text: string;
  fills: IFill[];
}

function drawRow(
  context: CanvasRenderingContext2D,
  picture: IPicture,
  row: Int32Array,
  y: number,
  theme: ITheme
): void {
  const { timeline, view, width, height, selected } = picture;
  if (y > height || y + ROW < SCALE) {
    return;
  }
  bars(timeline, row, view, width, (id, x, wide) => {
    const name = timeline.name[id] ?? 0;
    const { fill, ink } = theme.fills[name % theme.fills.length] ?? { fill: theme.text, ink: '' };
    const from = Math.max(x, 0);
    const length = Math.min(x + wide, width) - from;
    context.fillStyle = fill;
    // A hair between neighbours, so that two of one colour are seen as two.
    context.fillRect(from, y, length > 3 ? length - 1 : length, ROW - 1);
    if (length > NAMED) {
      context.fillStyle = ink;
      context.fillText(
        fitting(timeline.names[name]?.name ?? '', length),
        from + INSET,
        y + ROW / 2
      );
    }
    if (id === selected) {
      context.strokeStyle = theme.text;
      context.lineWidth = 2;
      context.strokeRect(from - 1, y - 1, Math.max(length, 2) + 1, ROW + 1);
    }
  });
}

/** The name cut to the room, by the font's usual width: measuring each would take longer than drawing it. */
function fitting(name: string, room: number): string {
  const characters = Math.floor((room - 2 * INSET) / 6.2);
  return name.length <= characters ? name : `${name.slice(0, Math.max(1, characters - 1))}…`;
}

function drawTicks(context: CanvasRenderingContext2D, picture: IPicture, line: string): void {
  context.fillStyle = line;
  for (const tick of ticks(picture.view, picture.width / TICK)) {
    context.fillRect(Math.round(at(picture, tick)), 0, 1, picture.height);
  }
}

/** Hatched: here nothing is known, which is not that nothing ran. */
function drawCut(context: CanvasRenderingContext2D, picture: IPicture, line: string): void {
  const { cutAt, width, height } = picture;
  if (cutAt === null || cutAt >= picture.view.to) {
    return;
  }
  const from = Math.max(at(picture, cutAt), 0);
  context.save();
  context.beginPath();
  context.rect(from, 0, width - from, height);
  context.clip();
  context.strokeStyle = line;
  context.lineWidth = 1;
  context.beginPath();
  for (let x = from - height; x < width; x += 6) {
    context.moveTo(x, height);
    context.lineTo(x + height, 0);
  }
  context.stroke();
  context.restore();
}

function at({ view, width }: IPicture, time: number): number {
  return ((time - view.from) / (view.to - view.from)) * width;
}

/** A colour, and black or white to write on it, whichever is told apart from it more easily. */
function fillOf(context: CanvasRenderingContext2D, colour: string): IFill {
  context.fillStyle = '#888888';
  context.fillStyle = colour;
  const fill = context.fillStyle;
  const light = [1, 3, 5]
    .map(place => parseInt(fill.slice(place, place + 2), 16) / 255)
    .map(part => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  const [red = 0, green = 0, blue = 0] = light;
  // Relative luminance as WCAG 2.1 defines it; black is read better above 0.179.
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return { fill, ink: luminance > 0.179 ? '#000000' : '#ffffff' };
}
