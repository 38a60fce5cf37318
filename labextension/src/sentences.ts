/**
 * Sentences that the kernel wrote in English, shown in another language by templates with `{fields}`.
 *
 * `{name}` stands for anything, which is shown in the other language too where it is a sentence by itself;
 * `{name:word}` for anything without a blank, `{name:figure}` for a number with its unit, `{name:known}` for what
 * other templates know. The catalogue is jupyter_mlgpu/sentences. Whatever the text, looking for it takes little: literal parts are searched for once,
 * from left to right, which finds a match where there is one, and no regular expression is made of them.
 */

/** Longer ones stay as they are, and so do fields within fields that are deeper than this. */
const LONGEST = 1_200;
const DEEPEST = 4;
/** Of a text, sentences that are looked for one by one. */
const MOST = 24;
/** Looks into the templates for one text. */
const LOOKS = 200;
/** Texts that are remembered. */
const REMEMBERED = 2_000;

/** Where a sentence ends within a text: a field reaches beyond it only where nothing else fits. */
const END = /[.!?] /;

/** What may stand between two sentences. */
const BETWEEN = /(?<=[.;:!?]) /;
const FIELD = /\{(\w+)(?::(word|known|figure))?\}/;

/** What a field can be asked to be. */
const WORD = /^\S*$/;
const FIGURE = /^[-+−]?\d[\d.,e]*( [^\s\d]{1,4})?$/;

interface ITemplate {
  /** What stands for itself; between each two of them is a field. */
  literals: readonly string[];
  fields: readonly { name: string; kind: string }[];
  said: string;
  /** How much of it stands for itself: of two that match, the more literal one is meant. */
  weight: number;
}

export class Sentences {
  /** `table`: from English templates to those of the other language. */
  constructor(table: Readonly<Record<string, string>>) {
    for (const [english, said] of Object.entries(table)) {
      this.put(template(english, said));
    }
  }

  /** The text in the other language, as far as it is known. */
  say(text: string): string {
    const remembered = this.remembered.get(text);
    if (remembered !== undefined) {
      return remembered;
    }
    this.looks = 0;
    const said = text.length > LONGEST ? text : (this.find(text, 0, false) ?? text);
    if (this.remembered.size >= REMEMBERED) {
      this.remembered.clear();
    }
    this.remembered.set(text, said);
    return said;
  }

  /** As `say`; null where nothing of it is known, or with `all` where something is not. */
  private find(text: string, depth: number, all: boolean): string | null {
    const trimmed = text.trim();
    if (trimmed === '' || depth > DEEPEST) {
      return null;
    }
    return (
      this.whole(trimmed, depth, false) ??
      this.inParts(trimmed, depth, all) ??
      this.whole(trimmed, depth, true)
    );
  }

  /** As one sentence; with `crossing`, a field of it may be several that are not known. */
  private whole(text: string, depth: number, crossing: boolean): string | null {
    if (++this.looks > LOOKS) {
      return null;
    }
    const [first, last] = [text.split(' ', 1)[0] ?? '', text.slice(text.lastIndexOf(' ') + 1)];
    const fitting = [this.byFirst.get(first), this.byLast.get(last), this.others]
      .flatMap(list => list ?? [])
      .flatMap(one => {
        const values = match(one.literals, text);
        return values === null ? [] : [{ one, values }];
      })
      .sort((a, b) => b.one.weight - a.one.weight);
    for (const { one, values } of fitting) {
      const said = this.filled(one, values, depth, crossing);
      if (said !== null) {
        return said;
      }
    }
    return null;
  }

  /** Sentence by sentence, as many at once as a template knows. */
  private inParts(text: string, depth: number, all: boolean): string | null {
    const parts = text.split(BETWEEN, MOST + 1);
    if (parts.length < 2 || parts.length > MOST) {
      return null;
    }
    let said = '';
    let known = false;
    for (let from = 0; from < parts.length;) {
      let end = from === 0 ? parts.length - 1 : parts.length;
      let found: string | null = null;
      for (; end > from; end--) {
        found = this.whole(parts.slice(from, end).join(' '), depth, false);
        if (found !== null) {
          break;
        }
      }
      if (found === null && all) {
        return null;
      }
      said = joined(said, found ?? parts[from] ?? '');
      known ||= found !== null;
      from = Math.max(end, from + 1);
    }
    return known ? said : null;
  }

  private filled(
    one: ITemplate,
    values: readonly string[],
    depth: number,
    crossing: boolean
  ): string | null {
    const told = new Map<string, string>();
    for (const [index, { name, kind }] of one.fields.entries()) {
      const value = values[index] ?? '';
      if (kind === 'word' || kind === 'figure') {
        if (!(kind === 'word' ? WORD : FIGURE).test(value)) {
          return null;
        }
        told.set(name, value);
        continue;
      }
      const all = kind === 'known' || (!crossing && END.test(value));
      const said = this.find(value, depth + 1, all);
      if (all && said === null) {
        return null;
      }
      told.set(name, said ?? value);
    }
    return one.said
      .split(FIELD)
      .map((part, index) => [part, told.get(part) ?? '', ''][index % 3])
      .join('');
  }

  private put(one: ITemplate): void {
    const [first = '', last = ''] = [one.literals[0], one.literals.at(-1)];
    const alone = one.literals.length === 1;
    if (alone || first.includes(' ')) {
      add(this.byFirst, first.split(' ', 1)[0] ?? '', one);
    } else if (last.includes(' ')) {
      add(this.byLast, last.slice(last.lastIndexOf(' ') + 1), one);
    } else {
      this.others.push(one);
    }
  }

  /** Templates by their first word; by their last one, where they begin with a field; and the others. */
  private readonly byFirst = new Map<string, ITemplate[]>();
  private readonly byLast = new Map<string, ITemplate[]>();
  private readonly others: ITemplate[] = [];
  private readonly remembered = new Map<string, string>();
  private looks = 0;
}

function template(english: string, said: string): ITemplate {
  const parts = english.split(FIELD);
  const literals = parts.filter((_, index) => index % 3 === 0);
  const fields = literals
    .slice(1)
    .map((_, index) => ({ name: parts[index * 3 + 1] ?? '', kind: parts[index * 3 + 2] ?? '' }));
  return { literals, fields, said, weight: literals.join('').length };
}

/** What stands in the fields; null where the text is another one. */
function match(literals: readonly string[], text: string): string[] | null {
  const [first = '', last = ''] = [literals[0], literals.at(-1)];
  if (literals.length === 1) {
    return text === first ? [] : null;
  }
  const end = text.length - last.length;
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) {
    return null;
  }
  const values: string[] = [];
  let at = first.length;
  for (const literal of literals.slice(1, -1)) {
    const found = text.indexOf(literal, at);
    if (found < 0 || found + literal.length > end) {
      return null;
    }
    values.push(text.slice(at, found));
    at = found + literal.length;
  }
  return [...values, text.slice(at, end)];
}

/** Sentences behind each other: a blank only where one of the two needs it. */
function joined(before: string, after: string): string {
  return before === '' || /[。；：，！？]$/.test(before) ? before + after : `${before} ${after}`;
}

function add(lists: Map<string, ITemplate[]>, word: string, one: ITemplate): void {
  const list = lists.get(word);
  if (list === undefined) {
    lists.set(word, [one]);
  } else {
    list.push(one);
  }
}
