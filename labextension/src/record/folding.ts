/**
 * Which lines of a cell's output fold: native ones that ask for nothing. Pure functions.
 *
 * A line folds where both agree: the kernel, which counted at which lines native code wrote, and the record, which
 * knows what such a line means. So a line that Python printed stays, whatever it says.
 */

import type { ILogLine } from './logs';
import type { INativeOutput as INative } from './recordtypes';
import type { IRecord } from './record';
import { FRAMEWORKS } from './names';
import type { Translate } from '../language/i18n';

/** An output of a cell that was written to a stream, as the notebook has it. */
export interface IWritten {
  stream: string;
  text: string;
}

/** What the user wants to see of native lines. */
export type NativeLines = 'fold' | 'show' | 'all';

export interface IFolding {
  /** Of each output what stays in sight; null: all of it, '': nothing. */
  left: (string | null)[];
  /** The messages that fold, as they were written, in the order of the outputs. */
  messages: string[];
}

const NOTHING: IFolding = { left: [], messages: [] };

/** Characters of an output that are looked at: the page stands still meanwhile. */
const LONGEST = 1_000_000;
/** What speaks for frameworks in the catalogue, and has a name where it speaks alone. */
const UNDER_THEM = new Map([
  ['cuda', 'CUDA'],
  ['metal', 'Metal'],
  ['mlcompute', 'ML Compute']
]);

/** What folds of a cell's outputs. */
export function foldingOf(
  written: readonly IWritten[],
  record: IRecord,
  wanted: NativeLines
): IFolding {
  const { native } = record;
  if (native === null || wanted === 'all' || written.some(({ text }) => text.length > LONGEST)) {
    return NOTHING;
  }
  const known = new KnownLines(record.logs, native, wanted === 'fold');
  const folding: IFolding = { left: [], messages: [] };
  const places = new Map<string, Place>();
  for (const { stream, text } of written) {
    const place = places.get(stream) ?? new Place(written, stream, native);
    places.set(stream, place);
    folding.left.push(place.fold(text, known, folding.messages));
  }
  return folding;
}

/** `12 harmless TensorFlow messages`; without a name where they are of several. */
export function foldedInWords(messages: number, native: INative | null, t: Translate): string {
  const families = native?.families ?? [];
  const frameworks = families.filter(one => FRAMEWORKS.has(one));
  const [first, ...others] = frameworks.length > 0 ? frameworks : families;
  const name =
    first === undefined || others.length > 0
      ? null
      : (FRAMEWORKS.get(first) ?? UNDER_THEM.get(first) ?? null);
  return name === null
    ? t('harmlessMessages', { count: messages })
    : t('harmlessMessagesOf', { count: messages, name });
}

/** The record's messages that may fold, by the shape of their first line. */
class KnownLines {
  constructor(logs: readonly ILogLine[], native: INative, quietToo: boolean) {
    const kept = new Set(native.namingDevices);
    for (const line of logs) {
      const quiet = line.verdict === 'harmless' || line.verdict === 'info';
      const folds = quietToo && quiet && !(line.id !== null && kept.has(line.id));
      this.add(line.text, folds ? 'folds' : 'stays');
    }
    native.ours.forEach(text => this.add(text, 'ours'));
  }

  /** The longest message that stands in these lines from `at` to before `end`. */
  find(shapes: readonly string[], at: number, end: number): { lines: number; fate: Fate } | null {
    const fitting = (this.messages.get(shapes[at] ?? '') ?? []).filter(
      ({ lines }) => at + lines.length <= end && lines.every((one, on) => one === shapes[at + on])
    );
    const longest = Math.max(...fitting.map(({ lines }) => lines.length));
    const fates = fitting.filter(({ lines }) => lines.length === longest).map(({ fate }) => fate);
    const [fate] = fates;
    // Two messages that look alike, and mean different things: then it stays.
    return fate === undefined
      ? null
      : { lines: longest, fate: fates.includes('stays') ? 'stays' : fate };
  }

  private add(text: string, fate: Fate): void {
    const lines = text.split('\n').map(shapeOf);
    const [first = ''] = lines;
    if (first !== '') {
      this.messages.set(first, [...(this.messages.get(first) ?? []), { lines, fate }]);
    }
  }

  private readonly messages = new Map<string, { lines: string[]; fate: Fate }[]>();
}

type Fate = 'folds' | 'stays' | 'ours';

/** How far one stream has been gone through, over all outputs that it stands in. */
class Place {
  constructor(written: readonly IWritten[], stream: string, native: INative) {
    const told = native.streams.find(([name]) => name === stream)?.[1];
    const ends = written.reduce(
      (sum, one) => sum + (one.stream === stream ? one.text.split('\n').length - 1 : 0),
      0
    );
    // With fewer lines than the kernel counted, the notebook has others than it wrote.
    this.runs = told !== undefined && ends >= told.lines ? told.native : [];
  }

  /** What stays in sight of the stream's next output; null: all of it. */
  fold(text: string, known: KnownLines, messages: string[]): string | null {
    const lines = text.split('\n');
    const last = lines.length - 1;
    const first = this.line;
    this.line += last;
    // A line that an earlier output began, and one that has no end yet, is none of those.
    const from = this.begun ? 1 : 0;
    this.begun = lines[last] !== '' || (this.begun && last === 0);
    const gone = new Set<number>();
    const shapes = lines.map(shapeOf);
    for (const [start, count] of this.runs) {
      const end = Math.min(start + count - first, last);
      for (let at = Math.max(start - first, from); at < end;) {
        const found = known.find(shapes, at, end);
        const length = found?.lines ?? 1;
        if (found && found.fate !== 'stays') {
          for (let one = at; one < at + length; one++) {
            gone.add(one);
          }
          if (found.fate === 'folds') {
            messages.push(lines.slice(at, at + length).join('\n'));
          }
        }
        at += length;
      }
    }
    if (gone.size === 0) {
      return null;
    }
    const left = lines.filter((_, at) => !gone.has(at)).join('\n');
    return left.trim() === '' ? '' : left;
  }

  private readonly runs: INative['streams'][number][1]['native'];
  private begun = false;
  private line = 0;
}

/**
 * A line without what differs each time that its message comes (times, addresses, counts), without colours, and
 * without paths, which a record has in a form that tells nobody's name.
 */
function shapeOf(line: string): string {
  return line.replace(COLOURS, '').trimEnd().replace(PATHS, '/').replace(VARYING, '0');
}

// eslint-disable-next-line no-control-regex
const COLOURS = /\u001b\[[0-?]*[ -/]*[@-~]/g;
const PATHS = /\S*\/\S*/g;
const VARYING = /0x[\da-f]+|\d+(?:[.,:]\d+)*/gi;
