/**
 * What the kernel sends of a page: jupyter_mlgpu/show/page/view.py.
 *
 * Made by scripts/readers.py of Python's types (`make schemas`).
 */

import { readLive } from './graph';
import type { IGraph } from './graph';
import { said, sentence, sentenceIn } from '../language/sentence';
import type { Sentence } from '../language/sentence';
import {
  anyOf,
  count,
  finite,
  flag,
  listOf,
  listOrNullOf,
  oneOf,
  or,
  shape,
  tupleOf
} from '../language/untrusted';
import type { Read } from '../language/untrusted';

export const PAGE_TYPE = 'application/vnd.jupyter-mlgpu.page+json';

export const SCHEMA = 1;

const listOfSentence = listOf(sentence);

/** A table. figures are the indices of the number columns. */
export const readTable = shape(
  {
    columns: listOrNullOf(sentence, 400),
    rows: listOrNullOf(listOrNullOf(or('', sentenceIn(300))), 400)
  },
  { figures: listOf(count), caption: said, below: said, summary: said }
);

export type ITable = Read<typeof readTable>;

/** An axis that goes from low, at the left or at the bottom, to high. */
export const readAxis = shape(
  { low: finite, high: finite },
  { title: said, log: flag, ticks: listOf(tupleOf<[number, Sentence]>(1, finite, said)) }
);

export type IAxis = Read<typeof readAxis>;

/** Points with one name. Equal colours belong together. dashed: not measured here. */
export const readSeries = shape(
  { mark: oneOf('line', 'points', 'roof', 'bar', 'span') },
  {
    name: said,
    colour: or(0, count),
    dashed: flag,
    points: listOf(
      tupleOf<[number, number, number | null, number | null, Sentence]>(
        2,
        finite,
        finite,
        finite,
        finite,
        said
      ),
      400
    )
  }
);

export type ISeries = Read<typeof readSeries>;

/** A line across the chart, with the interval that contains its value. */
export const readRule = shape({ at: finite }, { low: finite, high: finite, label: said });

export type IRule = Read<typeof readRule>;

/** A chart. words is its text alternative. lies: values go from left to right. */
export const readChart = shape(
  { x: readAxis, y: readAxis, series: listOrNullOf(readSeries, 32) },
  {
    title: listOfSentence,
    bars: listOf(
      tupleOf<[number, number, number, number, number]>(5, count, finite, finite, finite, finite),
      1000
    ),
    rules: listOf(readRule),
    words: said,
    notes: listOfSentence,
    lies: flag
  }
);

export type IChart = Read<typeof readChart>;

/** The answer in one sentence, and parts and details in reading order. Charts repeat the tables. */
export const readPage = shape(
  {
    kind: oneOf('page', 'plan', 'race', 'bench', 'engines'),
    parts: listOrNullOf(anyOf<Sentence | IGraph | ITable>(sentence, readLive, readTable), 400)
  },
  {
    title: said,
    headline: said,
    charts: listOf(readChart, 8),
    details: listOf(readTable),
    notes: listOfSentence,
    schema: or(1, count)
  }
);

export type IPage = Read<typeof readPage>;
