/**
 * Selects the harmless native lines in a cell's output, which are folded. Pure functions.
 *
 * A line is folded if the kernel counted it as written by native code and the record calls it harmless. A
 * line printed by Python is never folded, whatever its text.
 */

import type { ILogLine } from './logs';
import type { INativeOutput as INative } from './recordtypes';
import type { IRecord } from './record';
import { FRAMEWORKS } from './names';
import type { Translate } from '../language/i18n';

/** A stream output of a cell in the notebook. */
export interface IWritten {
  stream: string;
  text: string;
}

/** The user's setting for native lines. */
export type NativeLines = 'fold' | 'show' | 'all';

export interface IFolding {
  /** Remaining text of each output; null if it is unchanged, '' if nothing remains. */
  left: (string | null)[];
  /** The folded messages as they were written, in the order of the outputs. */
  messages: string[];
}

const NOTHING: IFolding = { left: [], messages: [] };

/** Largest number of characters of an output that are searched, because the page waits for it. */
const LONGEST = 1_000_000;
/** Libraries below the frameworks that are named if no framework wrote a line. */
const UNDER_THEM = new Map([
  ['cuda', 'CUDA'],
  ['metal', 'Metal'],
  ['mlcompute', 'ML Compute']
]);

/** Fold the lines of a cell's outputs. */
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

/** Return `12 harmless TensorFlow messages`, without a name if several frameworks wrote them. */
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

/** The messages of a record, by the shape of their first line. */
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

  /** Return the longest message that matches the lines from `at` to before `end`. */
  find(shapes: readonly string[], at: number, end: number): { lines: number; fate: Fate } | null {
    const fitting = (this.messages.get(shapes[at] ?? '') ?? []).filter(
      ({ lines }) => at + lines.length <= end && lines.every((one, on) => one === shapes[at + on])
    );
    const longest = Math.max(...fitting.map(({ lines }) => lines.length));
    const fates = fitting.filter(({ lines }) => lines.length === longest).map(({ fate }) => fate);
    const [fate] = fates;
    // Messages of the same shape may have different verdicts; then the line stays.
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

/** The position in one stream, over all of its outputs. */
class Place {
  constructor(written: readonly IWritten[], stream: string, native: INative) {
    const counted = native.streams.find(([name]) => name === stream)?.[1];
    const ends = written.reduce(
      (sum, one) => sum + (one.stream === stream ? one.text.split('\n').length - 1 : 0),
      0
    );
    // With fewer lines than the kernel counted, the notebook has other output than the kernel wrote.
    this.runs = counted !== undefined && ends >= counted.lines ? counted.native : [];
  }

  /** Return the remaining text of the stream's next output; null if it is unchanged. */
  fold(text: string, known: KnownLines, messages: string[]): string | null {
    const lines = text.split('\n');
    const last = lines.length - 1;
    const first = this.line;
    this.line += last;
    // Incomplete lines at the beginning and the end of an output are not folded.
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
 * Return a line without what varies between repetitions of its message (times, addresses, counts), without
 * colours, and without paths, which records hold in an anonymous form.
 */
function shapeOf(line: string): string {
  return line.replace(COLOURS, '').trimEnd().replace(PATHS, '/').replace(VARYING, '0');
}

// eslint-disable-next-line no-control-regex
const COLOURS = /\u001b\[[0-?]*[ -/]*[@-~]/g;
const PATHS = /\S*\/\S*/g;
const VARYING = /0x[\da-f]+|\d+(?:[.,:]\d+)*/gi;
