/** What the kernel sends of a page. Made by scripts/schemas.py of the package's page/view.py. */

import type { Sentence } from '../language/sentence';

/** The answer in one sentence, parts and details in reading order; charts say the same as the tables. */
export interface IPage {
  kind: 'page' | 'plan' | 'race' | 'bench' | 'engines';
  title: Sentence;
  headline: Sentence;
  parts: (Sentence | ITable | ILive)[];
  charts: IChart[];
  details: ITable[];
  notes: Sentence[];
  schema: number;
}

/** figures are the numbers of the columns of numbers; with summary the table is folded under it. */
export interface ITable {
  columns: Sentence[];
  rows: Sentence[][];
  figures: number[];
  caption: Sentence;
  below: Sentence;
  summary: Sentence;
}

/** words say what it says; lies: values go from left to right. */
export interface IChart {
  title: Sentence[];
  x: IAxis;
  y: IAxis;
  series: ISeries[];
  bars: [number, number, number, number, number][];
  rules: IRule[];
  words: Sentence;
  notes: Sentence[];
  lies: boolean;
}

/** It goes from low at the left, or at the foot, to high. */
export interface IAxis {
  title: Sentence;
  log: boolean;
  low: number;
  high: number;
  ticks: [number, Sentence][];
}

/** Points of one name; equal colours belong together. dashed was not measured here. */
export interface ISeries {
  name: Sentence;
  mark: 'line' | 'points' | 'roof' | 'bar';
  colour: number;
  dashed: boolean;
  points: [number, number, number | null, number | null, Sentence][];
}

/** A line across the chart, and between which values it lies. */
export interface IRule {
  at: number;
  low: number | null;
  high: number | null;
  label: Sentence;
}

/** A drawing that our own view draws itself: which one, and JSON-ready data of it. */
export interface ILive {
  kind: 'graph' | 'timeline';
  data: Record<string, unknown>;
}
